/**
 * Finds out what a new model's cosines mean, by pairs of developers' notes of which each says the same thing
 * twice in other words. Related are the two notes of a pair, unrelated the notes of different pairs.
 */

import { calibrate } from "../../domain/embedding/calibration.ts"
import type { Calibration } from "../../domain/embedding/similarity.ts"
import type { Embedder } from "../embedder.ts"

/** Every pair is about something of its own, so that the notes of different pairs are not related. */
export const RELATED_NOTES: readonly (readonly [string, string])[] = [
  [
    "We chose PostgreSQL because of its row level security.",
    "Decision: Postgres as the database, for row security policies.",
  ],
  [
    "The login test is flaky when the clock jumps at midnight.",
    "Authentication spec fails now and then around 00:00 because of the system time.",
  ],
  [
    "Run the migrations before starting the server.",
    "Apply all schema migrations first, then boot the application server.",
  ],
  ["Images are resized in a background queue.", "Picture scaling happens asynchronously in a job worker."],
  [
    "The build cache must be cleared after upgrading the compiler.",
    "After a new compiler version, delete cached build output.",
  ],
  [
    "Always write commit messages in the imperative mood.",
    "Style rule: git commit subjects use the imperative.",
  ],
  [
    "Payments are retried three times with exponential backoff.",
    "Failed charges are attempted again up to three times, waiting longer each time.",
  ],
  [
    "The memory leak came from listeners that were never removed.",
    "Heap kept growing since event handlers were not unsubscribed.",
  ],
  ["Deploys on Friday afternoon are not allowed.", "We never release to production late on Fridays."],
  [
    "Use feature flags to roll out the new editor.",
    "The new editor goes live gradually behind a feature toggle.",
  ],
  [
    "Search results are ordered by relevance, then by date.",
    "Hits get sorted by how well they match and after that by recency.",
  ],
  [
    "The websocket reconnects after the laptop wakes from sleep.",
    "When the computer resumes, the socket connection is opened again.",
  ],
  ["API keys are stored as hashes only.", "We keep just a digest of every API key, never the key itself."],
  [
    "The mobile app crashes on Android 9 when the camera opens.",
    "Opening the camera on old Android phones makes our app crash.",
  ],
  [
    "CSV exports must be encoded as UTF-8 with a byte order mark for Excel.",
    "Excel needs a BOM in the exported UTF-8 CSV files.",
  ],
  [
    "Dark mode colours come from the design tokens file.",
    "The palette for the dark theme is defined in our design tokens.",
  ],
  [
    "Rate limiting counts requests per key and minute.",
    "Each key may send a fixed number of calls a minute before it is throttled.",
  ],
  [
    "The nightly backup is copied to a second region.",
    "Every night the backup gets replicated to another data centre region.",
  ],
  [
    "Prefer composition over inheritance in the game engine.",
    "In the engine we build entities from components instead of deep class trees.",
  ],
  [
    "Translations are loaded lazily for each language.",
    "Locale files are fetched on demand, one language at a time.",
  ],
  [
    "The invoice PDF shows the wrong tax for Swiss customers.",
    "Bug: VAT on invoices is incorrect when the customer is in Switzerland.",
  ],
  [
    "Kubernetes pods were killed because the memory limit was too low.",
    "Containers ran out of memory and got OOM killed by the cluster.",
  ],
  [
    "Unit tests must not touch the network.",
    "No test may open a connection to the outside; stub all HTTP calls.",
  ],
  [
    "The parser handles nested comments with a depth counter.",
    "Nested comments are parsed by counting how deep we are.",
  ],
  [
    "Onboarding asks new users for their time zone.",
    "During sign-up people choose the time zone that they live in.",
  ],
  [
    "DNS changes take up to an hour to propagate.",
    "It can last about sixty minutes until a new DNS record is seen everywhere.",
  ],
  [
    "The recommendation model is trained again every week.",
    "Once a week we retrain the recommender on fresh data.",
  ],
  ["Keyboard shortcuts are documented on the help page.", "The help page lists all hotkeys."],
  [
    "Vendored fonts need their licence file next to them.",
    "Put the font's licence text beside every font that we ship.",
  ],
  [
    "The robot arm stops when the light barrier is broken.",
    "Crossing the light curtain halts the robotic arm at once.",
  ],
]

/** Measures an embedder by all pairs: some 30 related and 1,700 unrelated ones. Throws what it throws. */
export async function measureCalibration(embedder: Pick<Embedder, "embedPassages">): Promise<Calibration> {
  const left = await embedder.embedPassages(RELATED_NOTES.map(([note]) => note))
  const right = await embedder.embedPassages(RELATED_NOTES.map(([, note]) => note))
  const notes = left.map((windows, pair) => [windows[0], right[pair]?.[0]])
  const related: number[] = []
  const unrelated: number[] = []
  notes.forEach((pair, i) => {
    related.push(...cosines([pair[0]], [pair[1]]))
    for (const other of notes.slice(i + 1)) unrelated.push(...cosines(pair, other))
  })
  return calibrate(unrelated, related)
}

/** The cosines of each of these with each of those; a note of which the model knows nothing has none. */
function cosines(
  these: readonly (Float32Array | undefined)[],
  those: readonly (Float32Array | undefined)[],
): number[] {
  return these.flatMap((one) =>
    those.flatMap((other) => (one === undefined || other === undefined ? [] : [dot(one, other)])),
  )
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((total, value, i) => total + value * (other[i] ?? 0), 0)
}
