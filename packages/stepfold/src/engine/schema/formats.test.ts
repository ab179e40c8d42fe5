import { describe, expect, it } from "vitest";
import { formats } from "./formats.ts";

const cases: Readonly<Record<string, readonly [good: readonly string[], bad: readonly string[]]>> = {
  date: [
    ["2024-02-29", "2000-12-31"],
    ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "24-01-01", "2024-01-00", ""],
  ],
  time: [
    ["12:00:00Z", "23:59:60+00:00", "00:59:60.5+01:00", "08:30:06.283185z"],
    ["24:00:00Z", "12:00:00", "12:60:00Z", "12:00:60Z", "12:00:00+24:00"],
  ],
  "date-time": [
    ["2024-02-29T12:00:00Z", "2024-02-29 12:00:00+01:00"],
    ["2024-02-30T12:00:00Z", "2024-02-29", "2024-02-29T12:00:00", "2024-02-29x12:00:00Z"],
  ],
  duration: [
    ["P1Y2M3DT4H5M6S", "P4W", "PT0S", "P1D"],
    ["P", "PT", "P1DT", "4W", "P1YT", "P1Y3D", "PT1H3S", "P1W2D"],
  ],
  email: [
    ["ada@example.org", "a.b+c@d", '"x y"@z.org', "a@[127.0.0.1]", "a@[IPv6:::1]"],
    ["ada", "@x", "a@", ".a@x", "a..b@x", "a@-x", "a@[1.2.3]", `${"a".repeat(65)}@x`, '"a"b"@x'],
  ],
  hostname: [
    ["example.org", "a-b.c", "localhost"],
    ["-a", "a-", "a..b", "", "a_b", `${"a".repeat(64)}.de`, "a.".repeat(130)],
  ],
  ipv4: [
    ["127.0.0.1", "255.255.255.255"],
    ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3."],
  ],
  ipv6: [
    ["::", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8"],
    ["1:2:3:4:5:6:7", "1::2::3", ":1", "::12345", "1:2:3:4:5:6:7:8:9", "::ffff:1.2.3.400", "1.2.3.4", "g::", "::1".padEnd(46, "0")],
  ],
  uri: [
    ["http://example.org/a?b#c", "urn:isbn:1", "mailto:a@b.c", "http://[::1]:80/", "http://[v1.x]/", "http://u:p@h/%20"],
    ["//x/y", "/a", "http://a b", "http://a/%zz", "1a:b", "http://[::g]/", "http://h:x/", "http://u<@h/"],
  ],
  "uri-reference": [
    ["../a", "", "#x", "//h/p", "a?b"],
    ["1:b", "a b", "\\"],
  ],
  "uri-template": [
    ["http://x/{a}/{+b,c:3}{?d*}", "plain", "{a.b}"],
    ["{", "a}", "{a", "{a:0}", "{a,}", "{{a}}", "a b"],
  ],
  url: [
    ["https://example.org/a?b", "http://localhost:3000", "ftp://x.y", "https://ü.example/"],
    ["http://", "http:///a", "mailto:a@b.c", "http://a b", "http://a:99999/", "x"],
  ],
  uuid: [["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"]],
  "json-pointer": [
    ["", "/a~0b/~1", "/"],
    ["a", "/~2", "/a~"],
  ],
  "json-pointer-uri-fragment": [
    ["#", "#/a%20b"],
    ["/a", "#a", "#/%", "#/~2"],
  ],
  "relative-json-pointer": [
    ["0", "1/a", "2#"],
    ["", "/a", "01", "1a", "-1"],
  ],
  regex: [
    ["^a+$", "(?=b)"],
    ["(", "^abc\\Z", "a{2,1}"],
  ],
};

describe("F1: the format", () => {
  it.each([...formats.keys()])("%s", (name) => {
    const [good, bad] = cases[name]!;
    const fits = formats.get(name)!;
    expect([good.filter((text) => !fits(text)), bad.filter(fits)]).toEqual([[], []]);
  });
});
