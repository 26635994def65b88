/** The files of branches, their contents, and the chunks that these are cut into. */

import type { Queries } from "../../db/database.ts"
import type {
  BranchFile,
  Chunk,
  DocumentationBranch,
  StoredChunk,
} from "../../domain/documentation/documentation.ts"
import { type BranchFileRow, type StoredChunkRow, toBranchFile, toStoredChunk } from "./rows.ts"

const CHUNK_COLUMNS = "number, blob_id, line_start, line_end, headings, context, content, gap"
/** The keys of contents that were not there to be read begin with it. */
export const MISSING_PREFIX = "missing:"
/** No file has this path: it stands for all of a branch, and its content says why a commit was not read. */
export const REFUSED_PATH = "."
/** Without vectors of a model, in a form that an index answers; the parameter is the model, twice. */
const IS_WAITING = "(b.model_id IS NULL OR b.model_id < ? OR b.model_id > ?)"
const IS_UNUSED = "NOT EXISTS (SELECT 1 FROM documentation_files f WHERE f.blob_id = b.id)"

export const documentStatements = {
  findBlob: "SELECT id FROM documentation_blobs WHERE repository_id = ? AND key = ?",
  insertBlob: `
    INSERT INTO documentation_blobs (repository_id, key, title, first_number, chunk_count, chunk_lengths, problem)
    VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  listUnused: `
    SELECT b.id, b.title, b.first_number, b.chunk_count FROM documentation_blobs b
    WHERE b.repository_id = ? AND ${IS_UNUSED} LIMIT ?`,
  removeBlob: "DELETE FROM documentation_blobs WHERE id = ?",
  listFiles: `
    SELECT f.path, f.blob_id, f.changed_at_ms, b.title, b.first_number, b.chunk_lengths
    FROM documentation_files f JOIN documentation_blobs b ON b.id = f.blob_id
    WHERE f.branch_id = ? AND b.chunk_count > 0 ORDER BY f.path`,
  listKeys: `
    SELECT f.path, b.key FROM documentation_files f JOIN documentation_blobs b ON b.id = f.blob_id
    WHERE f.branch_id = ?`,
  findMissing: `
    SELECT 1 AS missing FROM documentation_blobs b JOIN documentation_files f ON f.blob_id = b.id
    WHERE b.repository_id = ? AND b.key >= '${MISSING_PREFIX}' AND b.key < '${MISSING_PREFIX}~'
      AND f.branch_id = ? LIMIT 1`,
  findRefusal: `
    SELECT b.key, b.problem FROM documentation_files f JOIN documentation_blobs b ON b.id = f.blob_id
    WHERE f.branch_id = ? AND f.path = '${REFUSED_PATH}'`,
  listPaths: "SELECT path FROM documentation_files WHERE branch_id = ?",
  listProblems: `
    SELECT f.path, b.problem FROM documentation_files f JOIN documentation_blobs b ON b.id = f.blob_id
    WHERE f.branch_id = ? AND b.problem IS NOT NULL ORDER BY f.path LIMIT ?`,
  putFile: `
    INSERT INTO documentation_files (branch_id, path, blob_id, changed_at_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT (branch_id, path) DO UPDATE SET
      blob_id = excluded.blob_id, changed_at_ms = excluded.changed_at_ms`,
  putChangedAt: "UPDATE documentation_files SET changed_at_ms = ? WHERE branch_id = ? AND path = ?",
  removeFile: "DELETE FROM documentation_files WHERE branch_id = ? AND path = ?",
  removeFiles: "DELETE FROM documentation_files WHERE branch_id = ?",
  countFiles: `
    SELECT count(*) AS files, coalesce(sum(b.chunk_count), 0) AS chunks,
      coalesce(sum(CASE WHEN b.problem IS NULL THEN 0 ELSE 1 END), 0) AS problems
    FROM documentation_files f JOIN documentation_blobs b ON b.id = f.blob_id WHERE f.branch_id = ?`,
  countFileChunks: `
    SELECT b.chunk_count AS number FROM documentation_files f JOIN documentation_blobs b ON b.id = f.blob_id
    WHERE f.branch_id = ? AND f.path = ?`,
  insertChunk: `
    INSERT INTO documentation_chunks
      (repository_id, number, blob_id, line_start, line_end, headings, context, content, gap)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  listChunks: `
    SELECT ${CHUNK_COLUMNS} FROM documentation_chunks
    WHERE repository_id = ? AND number >= ? AND number <= ? ORDER BY number`,
  removeChunks: "DELETE FROM documentation_chunks WHERE repository_id = ? AND number >= ? AND number <= ?",
  listUnembedded: `
    SELECT b.id, b.title, b.first_number, b.chunk_count, b.repository_id FROM documentation_blobs b
    WHERE ${IS_WAITING} AND b.chunk_count > 0 AND b.repository_id = ? LIMIT ?`,
  countUnembedded: `
    SELECT coalesce(sum(b.chunk_count), 0) AS number FROM documentation_blobs b
    WHERE ${IS_WAITING} AND b.chunk_count > 0 AND b.repository_id = ?`,
  putModel: "UPDATE documentation_blobs SET model_id = ? WHERE id = ?",
  removeSomeChunks: `
    DELETE FROM documentation_chunks WHERE repository_id = ? AND number <= (
      SELECT max(number) FROM (
        SELECT number FROM documentation_chunks WHERE repository_id = ? ORDER BY number LIMIT ?) some)`,
  removeSomeFiles: `
    DELETE FROM documentation_files WHERE branch_id = ? AND path <= (
      SELECT max(path) FROM (
        SELECT path FROM documentation_files WHERE branch_id = ? ORDER BY path LIMIT ?) some)`,
  removeSomeBlobs: `
    DELETE FROM documentation_blobs WHERE repository_id = ? AND key <= (
      SELECT max(key) FROM (
        SELECT key FROM documentation_blobs WHERE repository_id = ? ORDER BY key LIMIT ?) some)`,
}

/** A content and where its chunks are. */
export interface StoredBlob {
  id: number
  title: string | null
  firstNumber: number
  chunkCount: number
}

interface NewBlob {
  repositoryId: number
  key: string
  title: string | null
  firstNumber: number
  /** In words, one a chunk. */
  chunkLengths: readonly number[]
  problem: string | null
}

/** Returns the id of a content that was read before. */
export async function findBlob(db: Queries, repositoryId: number, key: string): Promise<number | undefined> {
  return (await db.get<{ id: number }>(documentStatements.findBlob, [repositoryId, key]))?.id
}

/** Stores what was read of a content, without its chunks; returns its id. */
export async function insertBlob(tx: Queries, blob: NewBlob): Promise<number> {
  const { repositoryId, key, title, firstNumber, chunkLengths, problem } = blob
  const row = await tx.get<{ id: number }>(documentStatements.insertBlob, [
    repositoryId,
    key,
    title,
    firstNumber,
    chunkLengths.length,
    JSON.stringify(chunkLengths),
    problem,
  ])
  return (row as { id: number }).id
}

/** Returns contents of a repository that no branch has, at most `limit`. */
export async function listUnusedBlobs(
  db: Queries,
  repositoryId: number,
  limit: number,
): Promise<StoredBlob[]> {
  const rows = await db.all<BlobRow>(documentStatements.listUnused, [repositoryId, limit])
  return rows.map(toStoredBlob)
}

/** Removes a content and its chunks; the index has to be told before. */
export async function removeBlob(tx: Queries, repositoryId: number, blob: StoredBlob): Promise<void> {
  const { id, firstNumber, chunkCount } = blob
  const lastNumber = firstNumber + chunkCount - 1
  await tx.run(documentStatements.removeChunks, [repositoryId, firstNumber, lastNumber])
  await tx.run(documentStatements.removeBlob, [id])
}

/** Returns the files of a branch in which there is something to search, by path. */
export async function listBranchFiles(db: Queries, branchId: number): Promise<BranchFile[]> {
  return (await db.all<BranchFileRow>(documentStatements.listFiles, [branchId])).map(toBranchFile)
}

/** Returns the key of the content of each file of a branch, by path. */
export async function branchKeys(db: Queries, branchId: number): Promise<Map<string, string>> {
  const rows = await db.all<{ path: string; key: string }>(documentStatements.listKeys, [branchId])
  return new Map(rows.map(({ path, key }) => [path, key]))
}

/** Returns what was noted of a commit that is too large to be read: its name, by which rules, and the problem. */
export async function findRefusal(
  db: Queries,
  branchId: number,
): Promise<{ key: string; problem: string } | undefined> {
  return db.get<{ key: string; problem: string }>(documentStatements.findRefusal, [branchId])
}

/** Returns the paths of the files of a branch. */
export async function listBranchPaths(db: Queries, branchId: number): Promise<string[]> {
  return (await db.all<{ path: string }>(documentStatements.listPaths, [branchId])).map(({ path }) => path)
}

/** Whether a branch has files whose contents were not there to be read. */
export async function isContentMissing(
  db: Queries,
  { id, repositoryId }: Pick<DocumentationBranch, "id" | "repositoryId">,
): Promise<boolean> {
  return (await db.get(documentStatements.findMissing, [repositoryId, id])) !== undefined
}

/** Returns the files of a branch that could not be read, and why, by path, at most `limit`. */
export async function listProblems(
  db: Queries,
  branchId: number,
  limit: number,
): Promise<{ path: string; problem: string }[]> {
  return db.all<{ path: string; problem: string }>(documentStatements.listProblems, [branchId, limit])
}

/** Puts a file into a branch, in place of the one that was there. */
export async function putBranchFile(
  tx: Queries,
  branchId: number,
  file: { path: string; blobId: number; changedAtMs: number | null },
): Promise<void> {
  await tx.run(documentStatements.putFile, [branchId, file.path, file.blobId, file.changedAtMs])
}

/** Notes when a file of a branch was last changed. */
export async function putChangedAt(tx: Queries, branchId: number, path: string, ms: number): Promise<void> {
  await tx.run(documentStatements.putChangedAt, [ms, branchId, path])
}

/** Takes a file out of a branch; its content stays until no branch has it. */
export async function removeBranchFile(tx: Queries, branchId: number, path: string): Promise<void> {
  await tx.run(documentStatements.removeFile, [branchId, path])
}

/** Takes all files out of a branch; their contents stay until no branch has them. */
export async function removeBranchFiles(tx: Queries, branchId: number): Promise<void> {
  await tx.run(documentStatements.removeFiles, [branchId])
}

/** Takes at most `limit` files out of a branch; returns how many. */
export function removeSomeFiles(tx: Queries, branchId: number, limit: number): Promise<number> {
  return tx.run(documentStatements.removeSomeFiles, [branchId, branchId, limit])
}

/** Removes at most `limit` chunks of a repository, whatever has them; returns how many. */
export function removeSomeChunks(tx: Queries, repositoryId: number, limit: number): Promise<number> {
  return tx.run(documentStatements.removeSomeChunks, [repositoryId, repositoryId, limit])
}

/** Removes at most `limit` contents of a repository, which no file may have any more; returns how many. */
export function removeSomeBlobs(tx: Queries, repositoryId: number, limit: number): Promise<number> {
  return tx.run(documentStatements.removeSomeBlobs, [repositoryId, repositoryId, limit])
}

export interface BranchCounts {
  files: number
  chunks: number
  /** Files that could not be read. */
  problems: number
}

/** Counts the files of a branch, their chunks, and those that could not be read. */
export async function countBranchFiles(db: Queries, branchId: number): Promise<BranchCounts> {
  const counts = await db.get<BranchCounts & Record<string, number>>(documentStatements.countFiles, [
    branchId,
  ])
  return counts ?? { files: 0, chunks: 0, problems: 0 }
}

/** Counts the chunks of a file of a branch; 0 when there is none. */
export async function countFileChunks(db: Queries, branchId: number, path: string): Promise<number> {
  const row = await db.get<{ number: number }>(documentStatements.countFileChunks, [branchId, path])
  return row?.number ?? 0
}

/** Stores the chunks of a content, in order, from `firstNumber` on. */
export async function insertChunks(
  tx: Queries,
  place: { repositoryId: number; blobId: number; firstNumber: number },
  chunks: readonly Chunk[],
): Promise<void> {
  for (const [index, chunk] of chunks.entries()) {
    await tx.run(documentStatements.insertChunk, [
      place.repositoryId,
      place.firstNumber + index,
      place.blobId,
      chunk.lineStart,
      chunk.lineEnd,
      JSON.stringify(chunk.headings),
      chunk.context,
      chunk.text,
      chunk.gap,
    ])
  }
}

/** Returns the chunks with the numbers from `first` to `last`, in order. */
export async function listChunks(
  db: Queries,
  repositoryId: number,
  first: number,
  last: number,
): Promise<StoredChunk[]> {
  const rows = await db.all<StoredChunkRow>(documentStatements.listChunks, [repositoryId, first, last])
  return rows.map(toStoredChunk)
}

/** Which contents are to be embedded: all without vectors of a model, or only those without any. */
export interface WaitingFor {
  modelId: number
  isNewOnly: boolean
}

/** Returns contents of a repository that are to be embedded, at most `limit`. */
export async function listUnembeddedBlobs(
  db: Queries,
  repositoryId: number,
  waiting: WaitingFor,
  limit: number,
): Promise<StoredBlob[]> {
  const args = [...waitingArguments(waiting), repositoryId, limit]
  return (await db.all<BlobRow>(documentStatements.listUnembedded, args)).map(toStoredBlob)
}

/** Counts the chunks of a repository that are to be embedded. */
export async function countUnembeddedChunks(
  db: Queries,
  repositoryId: number,
  waiting: WaitingFor,
): Promise<number> {
  const args = [...waitingArguments(waiting), repositoryId]
  return (await db.get<{ number: number }>(documentStatements.countUnembedded, args))?.number ?? 0
}

function waitingArguments({ modelId, isNewOnly }: WaitingFor): number[] {
  return isNewOnly ? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [modelId, modelId]
}

/** Notes that a content's chunks have vectors of a model. */
export async function putBlobModel(tx: Queries, blobId: number, modelId: number): Promise<void> {
  await tx.run(documentStatements.putModel, [modelId, blobId])
}

type BlobRow = { id: number; title: string | null; first_number: number; chunk_count: number }

function toStoredBlob(row: BlobRow): StoredBlob {
  return { id: row.id, title: row.title, firstNumber: row.first_number, chunkCount: row.chunk_count }
}
