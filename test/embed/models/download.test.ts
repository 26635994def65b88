/** Owns the download of a model, against a server that plays the hub: complete and checked, or an error that helps. */

import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { platform } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import { downloadModel } from "../../../src/embed/models/download.ts"
import { listModels, type ModelProgress, verifyModel } from "../../../src/embed/models/store.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { writeTinyModel } from "../../support/tiny-model.ts"

const COMMIT = "0123456789abcdef0123456789abcdef01234567"

/** A hub with one model, `owner/tiny`, whose weights it hands out from another place, as the real one does. */
class Hub {
  readonly folder = temporaryFolder()
  readonly modelsFolder = join(this.folder, "models")
  commit: string | null = COMMIT
  /** Answers that are not the usual one: taken by the first request that they do not leave alone. */
  readonly odd: ((path: string, request: IncomingMessage, response: ServerResponse) => boolean)[] = []
  readonly requests: { path: string; range: string | undefined }[] = []
  host = ""

  async start(): Promise<void> {
    writeTinyModel(join(this.folder, "model"), { onnxFile: "onnx/model_quantized.onnx" })
    const server = createServer((request, response) => this.#answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    this.host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
  }

  download(options: Partial<Parameters<typeof downloadModel>[0]> = {}) {
    const { host, modelsFolder } = this
    const onProgress = (progress: ModelProgress) => this.onProgress(progress)
    return downloadModel({ id: "owner/tiny", modelsFolder, host, retryDelayMs: 0, onProgress, ...options })
  }

  /**
   * Sends only some bytes of a file in the next transfer of it, and breaks the connection once the client
   * says that it has them.
   */
  breakAfter(file: string, bytes: number, alsoDo: () => void = () => undefined): void {
    this.odd.push((path, request, response) => {
      if (path !== `/cdn/${file}`) return false
      const content = this.read(file)
      const start = rangeOf(request) ?? 0
      response.writeHead(start > 0 ? 206 : 200, {
        "content-length": content.length - start,
        "content-range": `bytes ${start}-${content.length - 1}/${content.length}`,
        etag: etagOf(content),
      })
      response.write(content.subarray(start, start + bytes))
      this.onProgress = (progress) => {
        if (progress.file !== file || progress.bytes !== start + bytes) return
        alsoDo()
        response.destroy()
      }
      return true
    })
  }

  onProgress = (_: ModelProgress) => {}

  read(file: string): Buffer {
    return readFileSync(join(this.folder, "model", file))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? ""
    this.requests.push({ path, range: request.headers.range })
    const odd = this.odd.findIndex((answer) => answer(path, request, response))
    if (odd >= 0) {
      this.odd.splice(odd, 1)
      return
    }
    if (path.startsWith("/cdn/")) {
      this.#send(path.slice("/cdn/".length), request, response)
      return
    }
    const [, file] = /^\/owner\/tiny\/resolve\/(?:main|[0-9a-f]{40})\/(.+)$/.exec(path) ?? []
    if (file === undefined) {
      response.writeHead(401, { "x-error-code": "RepoNotFound" }).end("Invalid username or password.")
      return
    }
    if (this.commit !== null) response.setHeader("x-repo-commit", this.commit)
    if (!file.endsWith(".onnx") || !this.#has(file)) {
      this.#send(file, request, response)
      return
    }
    const content = this.read(file)
    const linked = { "x-linked-size": content.length, "x-linked-etag": `"${sha256(content)}"` }
    response.writeHead(302, { location: `/cdn/${file}`, ...linked }).end()
  }

  #send(file: string, request: IncomingMessage, response: ServerResponse): void {
    if (!this.#has(file)) {
      response.writeHead(404, { "x-error-code": "EntryNotFound" }).end("Entry not found")
      return
    }
    const content = this.read(file)
    const etag = etagOf(content)
    const start = rangeOf(request)
    const condition = request.headers["if-range"]
    if (start === undefined || (condition !== undefined && condition !== etag)) {
      response.writeHead(200, { "content-length": content.length, etag }).end(content)
    } else if (start >= content.length) {
      response.writeHead(416).end()
    } else {
      const range = `bytes ${start}-${content.length - 1}/${content.length}`
      response.writeHead(206, { "content-range": range, etag }).end(content.subarray(start))
    }
  }

  #has(file: string): boolean {
    return statSync(join(this.folder, "model", file), { throwIfNoEntry: false })?.isFile() ?? false
  }
}

function rangeOf(request: IncomingMessage): number | undefined {
  const start = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1]
  return start === undefined ? undefined : Number(start)
}

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex")
const etagOf = (content: Buffer) => `"${sha256(content).slice(0, 32)}"`

async function startHub(): Promise<Hub> {
  const hub = new Hub()
  await hub.start()
  return hub
}

const WEIGHTS = "onnx/model_quantized.onnx"

describe("downloading a model", () => {
  test("brings in all its files, of one commit, the quantised weights where there are some", async () => {
    const hub = await startHub()
    const stored = await hub.download()
    expect(stored.manifest).toMatchObject({
      id: "owner/tiny",
      source: { kind: "hub", host: hub.host, revision: COMMIT },
      dtype: "q8",
      dimensions: null,
    })
    expect(stored.manifest.files.map(({ path }) => path)).toEqual([
      "config.json",
      "tokenizer.json",
      "tokenizer_config.json",
      WEIGHTS,
    ])
    expect(await verifyModel(stored)).toEqual([])
    expect(readFileSync(join(stored.folder, WEIGHTS))).toEqual(hub.read(WEIGHTS))
    expect(await listModels(hub.modelsFolder)).toEqual([stored])
    expect(readdirSync(hub.modelsFolder).filter((name) => !name.endsWith(".lock"))).toEqual(["owner--tiny"])
    const others = hub.requests.slice(1).filter(({ path }) => path.includes("/resolve/main/"))
    expect(others).toEqual([])
  })

  test("takes the whole weights where there are no quantised ones, and the files that are there besides", async () => {
    const hub = await startHub()
    remove(join(hub.folder, "model/onnx"))
    writeTinyModel(join(hub.folder, "model"), {
      files: { "1_Pooling/config.json": { pooling_mode_cls_token: true } },
    })
    const { manifest } = await hub.download()
    expect(manifest).toMatchObject({ dtype: "fp32", pooling: "cls" })
    expect(manifest.files.map(({ path }) => path)).toContain("1_Pooling/config.json")
  })

  test("tells how far it is, up to the whole of every file", async () => {
    const hub = await startHub()
    const last = new Map<string, { bytes: number; bytesTotal: number | null }>()
    const { manifest } = await hub.download({
      onProgress: ({ file, ...progress }) => last.set(file, progress),
    })
    expect([...last]).toEqual(manifest.files.map(({ path, bytes }) => [path, { bytes, bytesTotal: bytes }]))
  })

  test("goes on where a broken connection stopped", async () => {
    const hub = await startHub()
    hub.breakAfter(WEIGHTS, 40_000)
    hub.breakAfter(WEIGHTS, 20_000)
    const stored = await hub.download()
    expect(await verifyModel(stored)).toEqual([])
    expect(readFileSync(join(stored.folder, WEIGHTS))).toEqual(hub.read(WEIGHTS))
    const ranges = hub.requests.filter(({ path }) => path === `/cdn/${WEIGHTS}`).map(({ range }) => range)
    expect(ranges).toEqual([undefined, "bytes=40000-", "bytes=60000-"])
  })

  test("goes on where it was stopped by the user, without asking for whole files again", async () => {
    const hub = await startHub()
    const stop = new AbortController()
    const reason = new Error("stopped")
    const onProgress = ({ file, bytes }: { file: string; bytes: number }) => {
      if (file === WEIGHTS && bytes === 40_000) stop.abort(reason)
    }
    hub.odd.push((path, _request, response) => {
      if (path !== `/cdn/${WEIGHTS}`) return false
      const content = hub.read(WEIGHTS)
      // Sends no more: only the user ends this.
      response.writeHead(200, { "content-length": content.length, etag: etagOf(content) })
      response.write(content.subarray(0, 40_000))
      return true
    })
    await expect(hub.download({ signal: stop.signal, onProgress })).rejects.toBe(reason)
    expect(await listModels(hub.modelsFolder)).toEqual([])

    hub.requests.length = 0
    const stored = await hub.download()
    expect(await verifyModel(stored)).toEqual([])
    expect(hub.requests.filter(({ path }) => path.endsWith("tokenizer.json"))).toEqual([])
    expect(hub.requests).toContainEqual({ path: `/cdn/${WEIGHTS}`, range: "bytes=40000-" })
  })

  test("starts anew when the model has changed since", async () => {
    const hub = await startHub()
    hub.breakAfter(WEIGHTS, 40_000)
    for (let i = 0; i < 4; i++) {
      hub.odd.push((path, _request, response) => {
        if (path !== `/cdn/${WEIGHTS}`) return false
        response.destroy()
        return true
      })
    }
    await expect(hub.download()).rejects.toMatchObject({ code: "unavailable" })
    writeTinyModel(join(hub.folder, "model"), { onnxFile: WEIGHTS, seed: 2 })
    hub.commit = COMMIT.replace("0", "f")
    hub.requests.length = 0
    const stored = await hub.download()
    expect(readFileSync(join(stored.folder, WEIGHTS))).toEqual(hub.read(WEIGHTS))
    expect(hub.requests.map(({ range }) => range).filter((range) => range !== undefined)).toEqual([])
  })

  test("starts anew without what a link in the place of the unfinished one points at", async () => {
    const hub = await startHub()
    const mine = join(hub.folder, "mine")
    mkdirSync(mine)
    mkdirSync(hub.modelsFolder)
    writeFileSync(join(mine, "file"), "mine")
    writeFileSync(join(mine, ".commit"), "of an earlier time")
    symlinkSync(mine, join(hub.modelsFolder, ".download-owner--tiny"))
    const stored = await hub.download()
    expect(await verifyModel(stored)).toEqual([])
    expect(readdirSync(mine).sort()).toEqual([".commit", "file"])
  })

  test("takes nothing of an old file when a host without commits has another one now", async () => {
    const hub = await startHub()
    hub.commit = null
    hub.breakAfter(WEIGHTS, 40_000, () => {
      writeTinyModel(join(hub.folder, "model"), { onnxFile: WEIGHTS, seed: 2 })
    })
    const stored = await hub.download()
    expect(readFileSync(join(stored.folder, WEIGHTS))).toEqual(hub.read(WEIGHTS))
    expect(stored.manifest.source).toMatchObject({ revision: "main" })
  })

  test("refuses weights whose checksum is not what the hub says, and keeps nothing of them", async () => {
    const hub = await startHub()
    hub.odd.push((path, _request, response) => {
      if (!path.endsWith(`/${COMMIT}/${WEIGHTS}`)) return false
      const linked = { "x-linked-size": hub.read(WEIGHTS).length, "x-linked-etag": `"${"0".repeat(64)}"` }
      response.writeHead(302, { location: `/cdn/${WEIGHTS}`, ...linked }).end()
      return true
    })
    await expect(hub.download()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("arrived damaged"),
    })
    expect(await listModels(hub.modelsFolder)).toEqual([])
    hub.requests.length = 0
    await hub.download()
    expect(hub.requests).toContainEqual({ path: `/cdn/${WEIGHTS}`, range: undefined })
  })

  test("tries again when the hub is busy", async () => {
    const hub = await startHub()
    for (const status of [503, 429, 500]) {
      hub.odd.push((path, _request, response) => {
        if (!path.endsWith("tokenizer_config.json")) return false
        response.writeHead(status).end()
        return true
      })
    }
    expect(await verifyModel(await hub.download())).toEqual([])
  })

  test("gives up a connection that stands still", async () => {
    const hub = await startHub()
    hub.odd.push((path) => path.endsWith("tokenizer.json"))
    expect(await verifyModel(await hub.download({ stalledMs: 200 }))).toEqual([])
  })
})

describe("a model that cannot be downloaded", () => {
  test("because there is none is not found", async () => {
    const hub = await startHub()
    await expect(hub.download({ id: "owner/other" })).rejects.toMatchObject({
      code: "not_found",
      message: `there is no public model 'owner/other' at ${hub.host}`,
    })
  })

  test("because it has no ONNX weights says so", async () => {
    const hub = await startHub()
    remove(join(hub.folder, "model/onnx"))
    await expect(hub.download()).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("has no onnx/model.onnx"),
    })
    expect(await listModels(hub.modelsFolder)).toEqual([])
  })

  test("because there is no network says how to import one", async () => {
    const hub = await startHub()
    await expect(hub.download({ host: "http://127.0.0.1:1" })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("the host cannot be reached"),
      hint: expect.stringContaining("import it: `signalbox model use <folder>`"),
    })
  })

  test("because one has to agree to its terms says so", async () => {
    const hub = await startHub()
    hub.odd.push((_path, _request, response) => {
      response.writeHead(401, { "x-error-code": "GatedRepo" }).end()
      return true
    })
    await expect(hub.download()).rejects.toMatchObject({ code: "refused" })
  })

  test("because the host redirects to what is not the web is refused", async () => {
    const hub = await startHub()
    hub.odd.push((_path, _request, response) => {
      response.writeHead(302, { location: "file:///etc/passwd" }).end()
      return true
    })
    await expect(hub.download()).rejects.toMatchObject({ code: "refused" })
  })

  test.each(["../x", "a/b/c", "owner/..", "http://127.0.0.1/x"])(
    "because %j is no id is refused",
    async (id) => {
      const hub = await startHub()
      await expect(hub.download({ id })).rejects.toMatchObject({ code: "invalid", field: "id" })
      expect(hub.requests).toEqual([])
    },
  )

  test("because its host or revision cannot be one is refused", async () => {
    const hub = await startHub()
    await expect(hub.download({ host: "file:///etc" })).rejects.toMatchObject({ field: "host" })
    await expect(hub.download({ revision: "../../other" })).rejects.toMatchObject({ field: "revision" })
    expect(hub.requests).toEqual([])
  })

  test.runIf(platform() === "linux")("because the disk is full says so", async () => {
    const hub = await startHub()
    mkdirSync(join(hub.modelsFolder, ".download-owner--tiny"), { recursive: true })
    symlinkSync("/dev/full", join(hub.modelsFolder, ".download-owner--tiny/tokenizer.json.part"))
    hub.commit = null
    await expect(hub.download()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("the disk is full"),
    })
  })
})
