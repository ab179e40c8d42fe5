import { BlockList } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusalOf } from "./address.ts";

const refused = `
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.1.2.3 168.63.129.16
  169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255
  198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
  :: ::1 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::FFFF:10.0.0.1 ::ffff:0:127.0.0.1
  0:0:0:0:0:ffff:a00:1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
  2001:10::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fdff:ffff::1 fe80::1
  fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1 4000::1 1fff::1 8000::1`
  .trim()
  .split(/\s+/);

const allowed = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.167.255.255 192.169.0.0
  198.17.255.255 198.20.0.0 223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1
  2003::1 3ffe::1 2a02:26f0:0:1::1 2606:4700:0:0:0:0:8.8.8.8`
  .trim()
  .split(/\s+/);

describe("refusalOf", () => {
  it.each(refused)("refuses %s", (address) => expect(refusalOf(address)).not.toBeNull());

  it.each(allowed)("lets %s pass", (address) => expect(refusalOf(address)).toBeNull());

  it.each([
    "",
    "localhost",
    "1.2.3",
    "01.2.3.4",
    "0x7f.0.0.1",
    "2130706433",
    "1.2.3.4.5",
    "::1::",
    "[::1]",
    "1.1.1.1:80",
    " 1.1.1.1",
    "%eth0",
  ])("refuses %j, which is no address", (address) => expect(refusalOf(address)).toBe("no address"));

  it("agrees with Node's own list on every IPv4 address", () => {
    const list = new BlockList();
    const subnets =
      "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4";
    for (const subnet of subnets.split(" ")) list.addSubnet(subnet.split("/")[0]!, Number(subnet.split("/")[1]), "ipv4");
    const near = fc.constantFrom(...refused.filter((address) => !address.includes(":"))).chain((address) => {
      const [a, b] = address.split(".");
      return fc.tuple(fc.nat(255), fc.nat(255)).map(([c, d]) => `${a}.${b}.${c}.${d}`);
    });
    fc.assert(fc.property(fc.oneof(fc.ipV4(), near), (address) => (refusalOf(address) !== null) === list.check(address, "ipv4")));
  });

  it("refuses every IPv4 address that hides in an IPv6 one", () => {
    const hidden = fc.tuple(fc.ipV4(), fc.constantFrom("::ffff:", "::", "64:ff9b::", "::ffff:0:")).map(([inner, prefix]) => prefix + inner);
    fc.assert(fc.property(hidden, (address) => refusalOf(address) !== null));
  });

  it("agrees with Node's own list on every IPv6 address, however it is written", () => {
    const open = new BlockList();
    open.addSubnet("2000::", 3, "ipv6");
    const closed = new BlockList();
    for (const [first, bits] of [
      ["2001::", 23],
      ["2001:db8::", 32],
      ["2002::", 16],
      ["3fff::", 20],
    ] as const)
      closed.addSubnet(first, bits, "ipv6");
    const near = fc
      .tuple(fc.constantFrom("2001:0", "2001:1ff", "2001:200", "2001:db8", "2002:1", "3fff:0", "3fff:1000", "2a00:1"), fc.ipV6())
      .map(([head, tail]) => `${head}::${tail.split(":").filter((part) => /^[0-9a-f]+$/i.test(part))[0] ?? "1"}`);
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), near), (address) => {
        const isPublic = open.check(address, "ipv6") && !closed.check(address, "ipv6");
        return (refusalOf(address) === null) === isPublic;
      }),
    );
  });
});
