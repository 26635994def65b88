import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { reachOf } from "../../../src/domain/webhooks/address.ts"

describe("an address leads into this machine, its network or what runs it", () => {
  test.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "::",
    "::1",
    "[::1]",
    "0:0:0:0:0:0:0:1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::FFFF:10.0.0.1",
    "::ffff:0:169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
  ])("%s", (address) => {
    expect(reachOf(address)).toBe("private")
  })
})

test.each([
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "168.63.129.15",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "::ffff:1.1.1.1",
  "64:ff9b::101:101",
  "2002:101:101::1",
])("%s is anywhere in the world", (address) => {
  expect(reachOf(address)).toBe("public")
})

test.each([
  "",
  "localhost",
  "1.2.3",
  "1.2.3.4.5",
  "256.1.1.1",
  "224.0.0.1",
  "255.255.255.255",
  "203.0.113.9",
  "::127.0.0.1",
  "::2",
  "2001::1",
  "2001:db8::1",
  "3fff::1",
  "4000::1",
  "100::1",
  "ff02::1",
  "::ffff:224.0.0.1",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "1::2::3",
  "12345::",
  "g::1",
])("%s is no receiver's", (address) => {
  expect(reachOf(address)).toBe("unusable")
})

test("an IPv4 address leads to the same place whatever IPv6 prefix it stands behind", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom("::ffff:", "::ffff:0:", "64:ff9b::"), (address, prefix) => {
      expect(reachOf(`${prefix}${address}`)).toBe(reachOf(address))
    }),
  )
})

test("any address of IPv6 is read, and only 2000::/3 can be public but for translated ones", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const reach = reachOf(address)
      if (reach === "public") expect(address).toMatch(/^([23]|::ffff:|64:ff9b:|0{1,4}:)/i)
    }),
  )
})
