import { isIP } from "node:net";

interface Range {
  readonly prefix: bigint;
  readonly bits: bigint;
  readonly what: string;
}

/** The IPv4 addresses that no public host has (from the IANA special-purpose registry, and addresses that clouds use). */
const ranges4: readonly Range[] = [
  range("0.0.0.0", 8, "this network"),
  range("10.0.0.0", 8, "private"),
  range("100.64.0.0", 10, "carrier-grade NAT"),
  range("127.0.0.0", 8, "loopback"),
  range("168.63.129.16", 32, "a cloud platform's own"),
  range("169.254.0.0", 16, "link-local"),
  range("172.16.0.0", 12, "private"),
  range("192.0.0.0", 24, "reserved"),
  range("192.0.2.0", 24, "documentation"),
  range("192.88.99.0", 24, "6to4"),
  range("192.168.0.0", 16, "private"),
  range("198.18.0.0", 15, "benchmarking"),
  range("198.51.100.0", 24, "documentation"),
  range("203.0.113.0", 24, "documentation"),
  range("224.0.0.0", 4, "multicast"),
  range("240.0.0.0", 4, "reserved"),
];

/**
 * The IPv6 addresses that are not public. Only `public6` is public, without
 * these ranges. Ranges outside of it are listed only for the message.
 */
const ranges6: readonly Range[] = [
  range("::", 128, "unspecified"),
  range("::1", 128, "loopback"),
  range("::", 96, "IPv4-compatible"),
  range("::ffff:0:0", 96, "IPv4-mapped"),
  range("::ffff:0:0:0", 96, "IPv4-translated"),
  range("64:ff9b::", 96, "NAT64"),
  range("64:ff9b:1::", 48, "NAT64"),
  range("fc00::", 7, "unique local"),
  range("fe80::", 10, "link-local"),
  range("fec0::", 10, "site-local"),
  range("ff00::", 8, "multicast"),
  range("2001::", 32, "Teredo"),
  range("2001::", 23, "reserved"),
  range("2001:db8::", 32, "documentation"),
  range("2002::", 16, "6to4"),
  range("3fff::", 20, "documentation"),
];
const public6 = range("2000::", 3, "public");

/**
 * Returns why an address must not be called by default, as the kind of network that it belongs to; null for a public address. A text
 * that is no address is refused too. IPv6 forms that contain an IPv4 address are always refused.
 */
export function refusalOf(address: string): string | null {
  const bare = address.split("%", 1)[0]!;
  const family = isIP(bare);
  if (family === 0) return "no address";
  if (family === 4) return kindOf(ranges4, read4(bare), 32n);
  const value = read6(bare);
  return kindOf(ranges6, value, 128n) ?? (isInRange(public6, value, 128n) ? null : "reserved");
}

function kindOf(ranges: readonly Range[], value: bigint, size: bigint): string | null {
  return ranges.find((one) => isInRange(one, value, size))?.what ?? null;
}

function isInRange({ prefix, bits }: Range, value: bigint, size: bigint): boolean {
  return value >> (size - bits) === prefix;
}

function range(first: string, bits: number, what: string): Range {
  const size = first.includes(":") ? 128 : 32;
  const value = size === 128 ? read6(first) : read4(first);
  return { prefix: value >> BigInt(size - bits), bits: BigInt(bits), what };
}

function read4(text: string): bigint {
  return text.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function read6(text: string): bigint {
  const [head = "", tail] = text.split("::");
  const before = groups(head);
  const after = groups(tail ?? "");
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<bigint>(zeros).fill(0n), ...after];
  return all.reduce((value, group) => (value << 16n) | group, 0n);
}

/** Returns the 16-bit groups of a part of an IPv6 address; the last group may be written as IPv4. */
function groups(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [BigInt(`0x${part}`)];
    const value = read4(part);
    return [value >> 16n, value & 0xffffn];
  });
}
