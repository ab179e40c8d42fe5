import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "./cli.ts";
import { declarations, imports, manyWorkflows, mistakes } from "./types-programs.ts";

/** The compilers that users have, by their versions and the names under which they are installed here. */
const compilers = [
  ["5.9", "typescript59"],
  ["6", "typescript60"],
  ["7", "typescript"],
] as const;

// in the repository, so that the packages are found
const folder = mkdtempSync(join(root, "e2e", ".types-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles a program against the built declarations, as a user does. Returns what the compiler prints. */
async function compile(compiler: string, name: string, program: string, ...options: readonly string[]): Promise<string> {
  const project = join(folder, `${compiler}-${name}`);
  mkdirSync(project);
  const target = { target: "es2023", module: "nodenext", lib: ["es2023", "dom"], types: [], strict: true };
  const compilerOptions = { ...target, exactOptionalPropertyTypes: true, noEmit: true };
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  writeFileSync(join(project, "program.ts"), program);
  const tsc = join(root, "node_modules", compiler, "bin/tsc");
  const args = [tsc, "-p", project, "--pretty", "false", ...options];
  // a compiler that finds mistakes ends with an error
  return new Promise((resolve) => execFile(process.execPath, args, { cwd: project }, (_error, stdout) => resolve(stdout)));
}

/** Returns the lines of a message by the line of the program that it is about. */
function messagesByLine(printed: string): ReadonlyMap<number, string> {
  const messages = new Map<number, string>();
  let at = 0;
  for (const line of printed.split("\n")) {
    const [, place, text = line] = /^program\.ts\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
    if (place !== undefined) at = Number(place);
    messages.set(at, [messages.get(at) ?? [], text.trim()].flat().join("\n").trim());
  }
  return messages;
}

describe.each(compilers)("TypeScript %s", (version, compiler) => {
  it("names the wrong member of every likely mistake, and nothing of the library", async () => {
    const before = `${imports}\n${declarations}`;
    const first = before.split("\n").length + 1;
    const printed = await compile(compiler, "mistakes", [before, ...mistakes.map(({ code }) => code)].join("\n"));
    const messages = messagesByLine(printed);
    const reported = mistakes.map(({ code }, i) => `${code}\n${messages.get(first + i) ?? "no message"}`);
    console.log(`TypeScript ${version}\n${reported.join("\n")}`);
    // nothing else is wrong: the right uses above the mistakes compile
    expect([...messages.keys()].filter((line) => line > 0 && line < first)).toEqual([]);
    for (const { code, message } of mistakes) {
      const at = reported.find((one) => one.startsWith(`${code}\n`));
      expect(at).toMatch(message);
      expect(at?.slice(code.length)).not.toMatch(/Overload \d|Typed<|DurableStep|StartTypedOptions|NoInfer|SchemaInput|Jsonified/);
    }
  });

  it("takes at most six times the instantiations of an empty project for 50 workflows of 20 steps", async () => {
    const threads = version === "7" ? ["--singleThreaded"] : [];
    const counts = await Promise.all(
      [imports, `${imports}\n${manyWorkflows(50, 20)}`].map(async (program, i) => {
        const printed = await compile(compiler, `count-${i}`, program, "--extendedDiagnostics", ...threads);
        expect(printed).not.toContain("error TS");
        return Number(/^Instantiations:\s+(\d+)/m.exec(printed)?.[1]);
      }),
    );
    const [empty = Number.NaN, many = Number.NaN] = counts;
    console.log(`TypeScript ${version}: ${empty} and ${many} instantiations, ${(many / empty).toFixed(2)} x`);
    expect(many / empty).toBeLessThan(6);
    // checking the declarations of the imports takes most of both, so what a step adds has a bound of its own: it is 80
    expect((many - empty) / (50 * 20)).toBeLessThan(120);
  });
});
