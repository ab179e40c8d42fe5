import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

it.each([
  "packages/stepfold",
  "packages/cli",
  "packages/server",
  "packages/studio",
])("A26: %s is published without tests, fixtures and what the build keeps for itself", (folder) => {
  const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(told) as readonly [Packed];
  const paths = files.map(({ path }) => path);
  expect(paths).toContain("package.json");
  expect(
    paths.filter((path) => /\.(?:test|test-d|fixture)\b|\.tsbuildinfo$|(?:^|\/)(?:node_modules|test|coverage)\/|(?:^|\/)\./.test(path)),
  ).toEqual([]);
  expect(
    paths.filter((path) => !/^(?:bin|dist|src|docs)\/|^(?:package\.json|README\.md|ARCHITECTURE\.md|LICENSE|THIRD-PARTY\.md)$/.test(path)),
  ).toEqual([]);
});
