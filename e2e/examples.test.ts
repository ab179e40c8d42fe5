import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder, root, start } from "./cli.ts";

describe("examples", () => {
  it.each(["http-retry", "in-code", "subscription", "trip-booking"])("%s says what its README says", async (example) => {
    const { code, stdout, stderr } = await runExample(`${example}/main.ts`, [], newFolder());
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expectedOutput(example), stderr: "" });
  });

  it("content-approval says what its README says, each command in a process of its own", async () => {
    const cwd = newFolder();
    const commands = [...readme("content-approval").matchAll(/^node examples\/(\S+) (.+)$/gm)];
    expect(commands).toHaveLength(4);
    let said = "";
    for (const [, file, words] of commands) {
      const { code, stdout, stderr } = await runExample(file!, words!.split(" "), cwd);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      said += stdout;
    }
    expect(said).toBe(expectedOutput("content-approval"));
  });
});

function runExample(file: string, args: readonly string[], cwd: string): ReturnType<typeof start>["ended"] {
  return start(process.execPath, [join(root, "examples", file), ...args], { cwd }).ended;
}

function readme(example: string): string {
  return readFileSync(join(root, "examples", example, "README.md"), "utf8");
}

/** Returns the last block of an example's README that has no language: the expected output. */
function expectedOutput(example: string): string {
  return /\n```\n(.*?)```\n/s.exec(
    readme(example)
      .slice(readme(example).lastIndexOf("```sh") + 5)
      .replace(/^.*?\n```\n/s, ""),
  )![1]!;
}
