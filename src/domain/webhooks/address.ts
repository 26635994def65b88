/**
 * Where an address leads: anywhere in the world, or into this machine, its network or what runs it. A webhook goes to
 * the latter only when its user said so.
 */

/** `unusable` is what no receiver can have: multicast, reserved ranges, examples. */
export type Reach = "public" | "private" | "unusable"

type Range = readonly [prefix: string, reach: Reach]

/** By the registries of special addresses of IANA, the first that holds counts; what is in none is public. */
const IPV4_RANGES: readonly Range[] = [
  ["0.0.0.0/8", "private"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "private"],
  ["127.0.0.0/8", "private"],
  ["169.254.0.0/16", "private"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "private"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "private"],
  // Where a cloud answers its own machines, on an address that is public by its number.
  ["168.63.129.16/32", "private"],
  ["192.0.2.0/24", "unusable"],
  ["192.88.99.0/24", "unusable"],
  ["198.51.100.0/24", "unusable"],
  ["203.0.113.0/24", "unusable"],
  ["224.0.0.0/4", "unusable"],
  ["240.0.0.0/4", "unusable"],
]

/** Of IPv6 only 2000::/3 is given out; what is in none of these is unusable. */
const IPV6_RANGES: readonly Range[] = [
  ["::/127", "private"],
  ["64:ff9b:1::/48", "private"],
  ["fc00::/7", "private"],
  ["fe80::/10", "private"],
  ["fec0::/10", "private"],
  ["2001::/23", "unusable"],
  ["2001:db8::/32", "unusable"],
  ["3fff::/20", "unusable"],
  ["2000::/3", "public"],
]

/** Prefixes after which an IPv4 address stands, by the bit at which it begins: it decides. */
const EMBEDDED: readonly (readonly [prefix: string, bit: number])[] = [
  ["::ffff:0:0/96", 96],
  ["::ffff:0:0:0/96", 96],
  ["64:ff9b::/96", 96],
  ["2002::/16", 16],
]

/** Returns where an IPv4 or IPv6 address leads, in any of their written forms; what is none is unusable. */
export function reachOf(address: string): Reach {
  const four = ipv4Bits(address)
  if (four !== undefined) return within(four, IPV4_RANGES) ?? "public"
  const six = ipv6Bits(address.replace(/^\[|\]$/g, "").replace(/%.*$/, ""))
  if (six === undefined) return "unusable"
  for (const [prefix, bit] of EMBEDDED)
    if (holds(six, prefix)) return within(six.slice(bit, bit + 32), IPV4_RANGES) ?? "public"
  return within(six, IPV6_RANGES) ?? "unusable"
}

function within(bits: string, ranges: readonly Range[]): Reach | undefined {
  return ranges.find(([prefix]) => holds(bits, prefix))?.[1]
}

function holds(bits: string, prefix: string): boolean {
  const [base = "", length = ""] = prefix.split("/")
  return (ipv4Bits(base) ?? ipv6Bits(base) ?? "").slice(0, Number(length)) === bits.slice(0, Number(length))
}

function ipv4Bits(text: string): string | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (parts === undefined || parts.some((part) => part > 255)) return undefined
  return parts.map((part) => part.toString(2).padStart(8, "0")).join("")
}

function ipv6Bits(text: string): string | undefined {
  const dotted = /^(.*:)([\d.]+)$/.exec(text)
  const last = dotted?.[2]?.includes(".") ? ipv4Bits(dotted[2]) : undefined
  const plain =
    last === undefined
      ? text
      : `${dotted?.[1]}${parseInt(last.slice(0, 16), 2).toString(16)}:${parseInt(last.slice(16), 2).toString(16)}`
  const halves = plain.split("::").map((half) => (half === "" ? [] : half.split(":")))
  const [head = [], tail] = halves
  const given = head.length + (tail?.length ?? 0)
  if (halves.length > 2 || (tail === undefined ? given !== 8 : given > 7)) return undefined
  const groups = [...head, ...Array<string>(8 - given).fill("0"), ...(tail ?? [])]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.map((group) => parseInt(group, 16).toString(2).padStart(16, "0")).join("")
}
