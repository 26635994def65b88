/** The built-in model, read once by each worker: reading it takes longer than most tests. */

import { type BuiltinEmbedder, createBuiltinEmbedder } from "../../src/embed/builtin.ts"
import { packageFile } from "../../src/runtime/package-root.ts"

/** Stays open when an app that has it is closed. */
export const BUILTIN: BuiltinEmbedder = { ...createBuiltinEmbedder(packageFile("model")), async close() {} }
