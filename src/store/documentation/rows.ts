/** Rows of documentation search become domain values here; `store/rows.ts` does it for all else. */

import type { Row } from "../../db/database.ts"
import type {
  BranchFile,
  DocumentationBranch,
  DocumentedRepository,
  IndexingWork,
  StoredChunk,
} from "../../domain/documentation/documentation.ts"

export type DocumentedRepositoryRow = Row & {
  repository_id: number
  is_wanted: number
  clone_url: string | null
  remote_url: string | null
  vectors_version: number
  work: string | null
  problem: string | null
}

export function toDocumentedRepository(row: DocumentedRepositoryRow): DocumentedRepository {
  return {
    repositoryId: row.repository_id,
    isWanted: row.is_wanted === 1,
    cloneUrl: row.clone_url,
    remoteUrl: row.remote_url,
    vectorsVersion: row.vectors_version,
    work: row.work === null ? null : (JSON.parse(row.work) as IndexingWork),
    problem: row.problem,
  }
}

export type DocumentationBranchRow = Row & {
  id: number
  repository_id: number
  name: string
  commit_hash: string | null
  rules: string
  is_complete: number
  version: number
  indexed_at_ms: number | null
}

export function toDocumentationBranch(row: DocumentationBranchRow): DocumentationBranch {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    name: row.name,
    commit: row.commit_hash,
    rules: row.rules,
    isComplete: row.is_complete === 1,
    version: row.version,
    indexedAtMs: row.indexed_at_ms,
  }
}

export type BranchFileRow = Row & {
  path: string
  blob_id: number
  changed_at_ms: number | null
  title: string | null
  first_number: number
  chunk_lengths: string
}

export function toBranchFile(row: BranchFileRow): BranchFile {
  return {
    path: row.path,
    blobId: row.blob_id,
    changedAtMs: row.changed_at_ms,
    title: row.title,
    firstNumber: row.first_number,
    chunkLengths: JSON.parse(row.chunk_lengths) as number[],
  }
}

export type StoredChunkRow = Row & {
  number: number
  blob_id: number
  line_start: number
  line_end: number
  headings: string
  context: string
  content: string
  gap: number | null
}

export function toStoredChunk(row: StoredChunkRow): StoredChunk {
  return {
    number: row.number,
    blobId: row.blob_id,
    lineStart: row.line_start,
    lineEnd: row.line_end,
    headings: JSON.parse(row.headings) as string[],
    text: row.content,
    context: row.context,
    gap: row.gap,
  }
}
