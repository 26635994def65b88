/**
 * Loaded into every process of the test suite, children included: whoever connects to anything but this
 * machine fails, and is written down for the suite to fail as well.
 */

const { appendFileSync } = require("node:fs")
const dgram = require("node:dgram")
const dns = require("node:dns")
const net = require("node:net")

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3}|0\.0\.0\.0|::)$/i

/** Fails unless a host is this machine. */
function requireLoopback(host, how) {
  if (host === undefined || host === null || host === "" || LOOPBACK.test(String(host))) return
  const line = `${how} ${host} by pid ${process.pid}: ${process.argv.slice(1).join(" ")}\n`
  if (process.env.SIGNALBOX_TEST_OUTBOUND) appendFileSync(process.env.SIGNALBOX_TEST_OUTBOUND, line)
  throw new Error(`the tests may connect to this machine only: ${line.trim()}`)
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function connectHere(...args) {
  // Node's own callers hand over arguments that are normalised already: an array of options and callback.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  if (typeof first === "object" && first !== null) {
    if (first.path === undefined || first.path === null) requireLoopback(first.host, "connect")
  } else if (typeof first !== "string" || /^\d+$/.test(first)) {
    requireLoopback(typeof second === "string" ? second : undefined, "connect")
  }
  return connect.apply(this, args)
}

const lookup = dns.lookup
dns.lookup = function lookupHere(host, ...rest) {
  requireLoopback(host, "lookup")
  return lookup.call(this, host, ...rest)
}

const send = dgram.Socket.prototype.send
dgram.Socket.prototype.send = function sendHere(...args) {
  const address = args.slice(1).find((argument) => typeof argument === "string")
  requireLoopback(address, "send")
  return send.apply(this, args)
}
