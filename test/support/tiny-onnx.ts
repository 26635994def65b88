/**
 * Writes ONNX files by hand, as much of the format as small models for tests need:
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 */

type Attribute = number | number[] | { float: number }

/** Collects the nodes and constants of a graph; every name is also the name of a tensor. */
export class OnnxGraph {
  readonly #nodes: Uint8Array[] = []
  readonly #constants: Uint8Array[] = []
  #count = 0

  node(type: string, inputs: string[], attributes: Record<string, Attribute> = {}, output?: string): string {
    const name = output ?? `t${++this.#count}`
    const fields = [
      ...inputs.map((input) => textField(1, input)),
      textField(2, name),
      textField(4, type),
      ...Object.entries(attributes).map(([key, value]) => bytesField(5, attribute(key, value))),
    ]
    this.#nodes.push(join8(fields))
    return name
  }

  floats(dims: number[], data: Float32Array): string {
    return this.#constant(1, dims, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  }

  integers(dims: number[], values: number[]): string {
    return this.#constant(7, dims, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer))
  }

  matrix({ rows, columns, data }: { rows: number; columns: number; data: Float32Array }): string {
    return this.floats(rows === 1 ? [columns] : [rows, columns], data)
  }

  #constant(type: number, dims: number[], raw: Uint8Array): string {
    const name = `c${++this.#count}`
    const fields = [
      ...dims.map((size) => integerField(1, size)),
      integerField(2, type),
      textField(8, name),
      bytesField(9, raw),
    ]
    this.#constants.push(join8(fields))
    return name
  }

  /** The whole file: ONNX format 8 with operator set 17, the inputs of a BERT and one output. */
  file(inputs: string[], output: string, hidden: number): Uint8Array {
    const value = (name: string, type: number, dims: (string | number)[]) => {
      const shape = dims.map((size) =>
        bytesField(1, typeof size === "string" ? textField(2, size) : integerField(1, size)),
      )
      const tensor = join8([integerField(1, type), bytesField(2, join8(shape))])
      return join8([textField(1, name), bytesField(2, bytesField(1, tensor))])
    }
    const graph = join8([
      ...this.#nodes.map((node) => bytesField(1, node)),
      textField(2, "tiny"),
      ...this.#constants.map((constant) => bytesField(5, constant)),
      ...inputs.map((name) => bytesField(11, value(name, 7, ["batch", "pieces"]))),
      bytesField(12, value(output, 1, ["batch", "pieces", hidden])),
    ])
    return join8([integerField(1, 8), bytesField(7, graph), bytesField(8, integerField(2, 17))])
  }
}

// Protocol buffers: https://protobuf.dev/programming-guides/encoding/

function attribute(name: string, value: Attribute): Uint8Array {
  const [FLOAT, INTEGER, INTEGERS] = [1, 2, 7]
  if (typeof value === "number") {
    return join8([textField(1, name), integerField(3, value), integerField(20, INTEGER)])
  }
  if (Array.isArray(value)) {
    return join8([textField(1, name), ...value.map((v) => integerField(8, v)), integerField(20, INTEGERS)])
  }
  const bytes = new Uint8Array(new Float32Array([value.float]).buffer)
  return join8([textField(1, name), join8([varint((2 << 3) | 5), bytes]), integerField(20, FLOAT)])
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Uint8Array.from([...bytes, Number(rest)])
}

function integerField(field: number, value: number): Uint8Array {
  return join8([varint(field << 3), varint(value)])
}

function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  return join8([varint((field << 3) | 2), varint(bytes.length), bytes])
}

function textField(field: number, text: string): Uint8Array {
  return bytesField(field, new TextEncoder().encode(text))
}

function join8(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
