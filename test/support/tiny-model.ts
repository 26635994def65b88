/**
 * Language models small enough to be made by a test: a BERT and a static table with random weights, in the
 * layout of transformers.js, and the same computation in plain TypeScript to compare with.
 */

import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { OnnxGraph } from "./tiny-onnx.ts"

/** Words and endings that are one piece; `##` goes on with a word. */
const WORDS =
  "the a of and to in is index lock table row file cache server port worker test build fast slow write read " +
  "query passage retry error branch merge token key search memory agent mail thread one two three ##s ##ing ##er"
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz0123456789"]
/** Every word of plain English is known, if only by its letters. */
export const VOCABULARY = [
  ..."[PAD] [UNK] [CLS] [SEP]".split(" "),
  ...new Set([..."-:;,.'", ...WORDS.split(" "), ...LETTERS, ...LETTERS.map((letter) => `##${letter}`)]),
]

export interface TinyModelOptions {
  kind?: "bert" | "static"
  layers?: number
  hidden?: number
  heads?: number
  /** The most pieces that it can read at once. */
  positions?: number
  /** Weights are the same for the same seed. */
  seed?: number
  /** Files besides or instead of its own, by path; null leaves one out. */
  files?: Record<string, object | null>
  /** Where the ONNX file goes. */
  onnxFile?: string
}

export interface TinyModel {
  /** Turns a text into pieces as its tokenizer does, without the special ones. */
  piecesOf(text: string): number[]
  /** The vector of each piece of a row of pieces, as `last_hidden_state` gives it. */
  hiddenOf(ids: readonly number[]): number[][]
  /** The vector of a window: the given pieces between [CLS] and [SEP], the mean of their vectors, length 1. */
  vectorOf(pieces: readonly number[], pooling?: "mean" | "cls" | "last"): number[]
}

/** Writes a model to `folder` in the layout of transformers.js and returns its computation. */
export function writeTinyModel(folder: string, options: TinyModelOptions = {}): TinyModel {
  const { kind = "bert", layers = 2, hidden = 32, heads = 2, positions = 64, seed = 1 } = options
  const shape = { layers, hidden, heads, positions }
  const weights = makeWeights(shape, seed)
  const files: Record<string, object | null> = {
    "config.json": {
      model_type: "bert",
      architectures: ["BertModel"],
      hidden_size: hidden,
      max_position_embeddings: positions,
      vocab_size: VOCABULARY.length,
    },
    "tokenizer.json": tokenizerJson(),
    "tokenizer_config.json": tokenizerConfig(positions),
    ...options.files,
  }
  for (const [path, content] of Object.entries(files)) {
    if (content !== null) writeTo(folder, path, JSON.stringify(content))
  }
  const onnx = kind === "bert" ? bertOnnx(shape, weights) : staticOnnx(shape, weights)
  writeTo(folder, options.onnxFile ?? "onnx/model.onnx", onnx)
  return computation(kind, shape, weights)
}

function writeTo(folder: string, path: string, content: string | Uint8Array): void {
  mkdirSync(join(folder, path, ".."), { recursive: true })
  writeFileSync(join(folder, path), content)
}

// Tokenizer

function tokenizerConfig(positions: number) {
  return {
    tokenizer_class: "BertTokenizer",
    do_lower_case: true,
    model_max_length: positions,
    pad_token: "[PAD]",
    unk_token: "[UNK]",
    cls_token: "[CLS]",
    sep_token: "[SEP]",
  }
}

function tokenizerJson() {
  const special = (content: string) => ({
    id: VOCABULARY.indexOf(content),
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } })
  const ids = (id: string) => ({ id, ids: [VOCABULARY.indexOf(id)], tokens: [id] })
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(special),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [token("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, token("[SEP]")],
      pair: [],
      special_tokens: { "[CLS]": ids("[CLS]"), "[SEP]": ids("[SEP]") },
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(VOCABULARY.map((piece, id) => [piece, id])),
    },
  }
}

/** WordPiece for lower-case words and punctuation: the longest known piece first, or the whole word unknown. */
function tokenize(text: string): number[] {
  const words = text.toLowerCase().match(/[a-z0-9]+|[^\sa-z0-9]/g) ?? []
  return words.flatMap((word) => {
    const pieces: number[] = []
    let at = 0
    while (at < word.length) {
      let end = word.length
      let id = -1
      while (end > at && id < 0) {
        id = VOCABULARY.indexOf((at > 0 ? "##" : "") + word.slice(at, end))
        if (id < 0) end--
      }
      if (id < 0) return [VOCABULARY.indexOf("[UNK]")]
      pieces.push(id)
      at = end
    }
    return pieces
  })
}

// Weights

interface Shape {
  layers: number
  hidden: number
  heads: number
  positions: number
}

interface Matrix {
  rows: number
  columns: number
  data: Float32Array
}

interface Weights {
  words: Matrix
  positions: Matrix
  types: Matrix
  layers: Record<LayerWeight, Matrix>[]
}

const LAYER_WEIGHTS = ["q", "qb", "k", "kb", "v", "vb", "o", "ob", "up", "upb", "down", "downb"] as const
type LayerWeight = (typeof LAYER_WEIGHTS)[number]

function makeWeights({ layers, hidden, positions }: Shape, seed: number): Weights {
  const random = randomFrom(seed)
  const matrix = (rows: number, columns: number, scale: number): Matrix => ({
    rows,
    columns,
    data: Float32Array.from({ length: rows * columns }, () => (random() * 2 - 1) * scale),
  })
  const square = 2 / Math.sqrt(hidden)
  const inner = hidden * 4
  return {
    words: matrix(VOCABULARY.length, hidden, 1),
    positions: matrix(positions, hidden, 0.2),
    types: matrix(2, hidden, 0.2),
    layers: Array.from({ length: layers }, () => ({
      q: matrix(hidden, hidden, square),
      qb: matrix(1, hidden, 0.1),
      k: matrix(hidden, hidden, square),
      kb: matrix(1, hidden, 0.1),
      v: matrix(hidden, hidden, square),
      vb: matrix(1, hidden, 0.1),
      o: matrix(hidden, hidden, square),
      ob: matrix(1, hidden, 0.1),
      up: matrix(hidden, inner, square),
      upb: matrix(1, inner, 0.1),
      down: matrix(inner, hidden, square / 2),
      downb: matrix(1, hidden, 0.1),
    })),
  }
}

/** Mulberry32: a stream of numbers in 0..1 that is the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

// The same computation in plain TypeScript

const NORM_EPSILON = 1e-12

function computation(kind: "bert" | "static", shape: Shape, weights: Weights): TinyModel {
  const hiddenOf = (ids: readonly number[]) => {
    if (kind === "static") return ids.map((id) => rowOf(weights.words, id))
    let rows = ids.map((id, position) =>
      normed(sum(rowOf(weights.words, id), rowOf(weights.positions, position), rowOf(weights.types, 0))),
    )
    for (const layer of weights.layers) {
      const attended = times(attention(rows, layer, shape), layer.o, layer.ob)
      const middle = rows.map((row, i) => normed(sum(row, attended[i] ?? [])))
      const up = times(middle, layer.up, layer.upb).map((row) => row.map((value) => Math.max(0, value)))
      const down = times(up, layer.down, layer.downb)
      rows = middle.map((row, i) => normed(sum(row, down[i] ?? [])))
    }
    return rows
  }
  return {
    piecesOf: tokenize,
    hiddenOf,
    vectorOf(pieces, pooling = "mean") {
      const ids = [VOCABULARY.indexOf("[CLS]"), ...pieces, VOCABULARY.indexOf("[SEP]")]
      const rows = hiddenOf(ids)
      const pooled =
        pooling === "mean"
          ? sum(...rows).map((value) => value / rows.length)
          : (rows.at(pooling === "cls" ? 0 : -1) ?? [])
      const length = Math.hypot(...pooled)
      return pooled.map((value) => value / length)
    },
  }
}

function attention(
  rows: number[][],
  layer: Record<LayerWeight, Matrix>,
  { hidden, heads }: Shape,
): number[][] {
  const [q, k, v] = [
    times(rows, layer.q, layer.qb),
    times(rows, layer.k, layer.kb),
    times(rows, layer.v, layer.vb),
  ]
  const size = hidden / heads
  return rows.map((_, i) =>
    Array.from({ length: heads }, (_, head) => head * size).flatMap((from) => {
      const part = (row: number[] | undefined) => (row ?? []).slice(from, from + size)
      const scores = rows.map((_, j) => dot(part(q[i]), part(k[j])) / Math.sqrt(size))
      const top = Math.max(...scores)
      const shares = scores.map((score) => Math.exp(score - top))
      const total = shares.reduce((a, b) => a + b, 0)
      return sum(...shares.map((share, j) => part(v[j]).map((value) => (value * share) / total)))
    }),
  )
}

function rowOf({ columns, data }: Matrix, row: number): number[] {
  return [...data.subarray(row * columns, (row + 1) * columns)]
}

function times(rows: readonly number[][], { columns, data }: Matrix, bias: Matrix): number[][] {
  return rows.map((row) =>
    Array.from({ length: columns }, (_, column) =>
      row.reduce(
        (total, value, i) => total + value * (data[i * columns + column] ?? 0),
        bias.data[column] ?? 0,
      ),
    ),
  )
}

function sum(...rows: number[][]): number[] {
  return (rows[0] ?? []).map((_, i) => rows.reduce((total, row) => total + (row[i] ?? 0), 0))
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((total, value, i) => total + value * (b[i] ?? 0), 0)
}

function normed(row: readonly number[]): number[] {
  const mean = row.reduce((a, b) => a + b, 0) / row.length
  const variance = row.reduce((total, value) => total + (value - mean) ** 2, 0) / row.length
  return row.map((value) => (value - mean) / Math.sqrt(variance + NORM_EPSILON))
}

// The same as ONNX

function staticOnnx({ hidden }: Shape, { words }: Weights): Uint8Array {
  const graph = new OnnxGraph()
  graph.node("Gather", [graph.matrix(words), "input_ids"], {}, "last_hidden_state")
  return graph.file(["input_ids"], "last_hidden_state", hidden)
}

function bertOnnx(shape: Shape, weights: Weights): Uint8Array {
  const graph = new OnnxGraph()
  const { hidden } = shape
  const scale = graph.floats([hidden], new Float32Array(hidden).fill(1))
  const shift = graph.floats([hidden], new Float32Array(hidden))
  const norm = (input: string, output?: string) =>
    graph.node(
      "LayerNormalization",
      [input, scale, shift],
      { axis: -1, epsilon: { float: NORM_EPSILON } },
      output,
    )
  const number = (value: number) => graph.floats([], new Float32Array([value]))
  const length = graph.node("Gather", [graph.node("Shape", ["input_ids"]), graph.integers([], [1])])
  const places = graph.node("Range", [graph.integers([], [0]), length, graph.integers([], [1])])
  const words = graph.node("Gather", [graph.matrix(weights.words), "input_ids"])
  const types = graph.node("Gather", [graph.matrix(weights.types), "token_type_ids"])
  const positions = graph.node("Gather", [graph.matrix(weights.positions), places])
  let rows = norm(graph.node("Add", [graph.node("Add", [words, types]), positions]))

  // What is padded gets a score so low that its share is nothing.
  const attended = graph.node("Cast", ["attention_mask"], { to: 1 })
  const hiding = graph.node("Mul", [graph.node("Sub", [number(1), attended]), number(-10_000)])
  const mask = graph.node("Unsqueeze", [hiding, graph.integers([2], [1, 2])])
  weights.layers.forEach((layer, index) => {
    rows = bertLayer(graph, rows, mask, layer, shape, norm, index === weights.layers.length - 1)
  })
  return graph.file(["input_ids", "attention_mask", "token_type_ids"], "last_hidden_state", hidden)
}

function bertLayer(
  graph: OnnxGraph,
  rows: string,
  mask: string,
  layer: Record<LayerWeight, Matrix>,
  { hidden, heads }: Shape,
  norm: (input: string, output?: string) => string,
  isLast: boolean,
): string {
  const linear = (input: string, weight: Matrix, bias: Matrix) =>
    graph.node("Add", [graph.node("MatMul", [input, graph.matrix(weight)]), graph.matrix(bias)])
  const split = (input: string, perm: number[]) => {
    const shape = graph.integers([4], [0, 0, heads, hidden / heads])
    return graph.node("Transpose", [graph.node("Reshape", [input, shape])], { perm })
  }
  const q = split(linear(rows, layer.q, layer.qb), [0, 2, 1, 3])
  const k = split(linear(rows, layer.k, layer.kb), [0, 2, 3, 1])
  const v = split(linear(rows, layer.v, layer.vb), [0, 2, 1, 3])
  const size = graph.floats([], new Float32Array([1 / Math.sqrt(hidden / heads)]))
  const scores = graph.node("Add", [graph.node("Mul", [graph.node("MatMul", [q, k]), size]), mask])
  const mixed = graph.node("MatMul", [graph.node("Softmax", [scores], { axis: -1 }), v])
  const turned = graph.node("Transpose", [mixed], { perm: [0, 2, 1, 3] })
  const joined = graph.node("Reshape", [turned, graph.integers([3], [0, 0, hidden])])
  const middle = norm(graph.node("Add", [rows, linear(joined, layer.o, layer.ob)]))
  const up = graph.node("Relu", [linear(middle, layer.up, layer.upb)])
  const down = linear(up, layer.down, layer.downb)
  return norm(graph.node("Add", [middle, down]), isLast ? "last_hidden_state" : undefined)
}
