import { expect, it } from "vitest";
import { isInspected } from "./inspected.ts";

it.each([
  [[], "", false],
  [["--inspect"], "", true],
  [["--enable-source-maps", "--inspect-brk=127.0.0.1:9300"], "", true],
  [["--inspect-wait"], "", true],
  [["--inspect-port=9300"], "", false],
  [["--inspect-publish-uid=http"], "", false],
  [[], "--max-old-space-size=512 --inspect=0", true],
  [[], '--require "./a b.js" "--inspect-brk"', true],
  [[], "--require ./x--inspect.js", false],
])("a process started with %j and NODE_OPTIONS=%j is inspected: %s", (execArgv, nodeOptions, expected) => {
  expect(isInspected(execArgv, nodeOptions)).toBe(expected);
});
