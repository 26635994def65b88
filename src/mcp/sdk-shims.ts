/**
 * Takes the place of the SDK's own Node shims in the bundle (see tsup.config.ts). The SDK makes a JSON
 * Schema validator for every server, to check what users answer when they are asked; this server never
 * asks. Without it a quarter of the bundle and a tenth of the start are gone.
 */

import nodeProcess from "node:process"

export { nodeProcess as process }

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("this build of the SDK has no JSON Schema validator")
  }
}
