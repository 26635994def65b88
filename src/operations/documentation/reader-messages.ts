/** What the process that reads large documents and the one that started it say to each other. */

import type { Format } from "../../indexing/formats.ts"
import type { IndexedDocument } from "../../indexing/read-document.ts"

/** How the process ends itself in the middle of a document that takes too much work. */
export const TOO_SLOW_SIGNAL = process.platform === "win32" ? "SIGKILL" : "SIGXCPU"

/** Asks for one document; the next one is asked for when this is answered. */
export interface ReadRequest {
  format: Format
  bytes: Uint8Array
}

/** The first message says that the process can read; each further one is a document, or why it failed as a defect. */
export type ReaderMessage = "ready" | IndexedDocument | { failure: string }
