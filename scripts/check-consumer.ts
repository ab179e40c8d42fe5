// Packs the library, installs it in an empty folder and uses it there. It checks the number of installed packages, types that compile
// without skipLibCheck and without @types/node, code that runs without code generation, source maps and stacks that lead to published
// sources, and a second copy that recognizes the errors and values of the first one.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { library, publicEntries, root } from "./public-entries.ts";

const windows = process.platform === "win32";
const folder = mkdtempSync(join(tmpdir(), "stepfold-consumer-"));
const installed = join(folder, "node_modules/stepfold");
try {
  const packed = pack();
  install(packed);
  checkMaps();
  compile("nodenext");
  compile("bundler");
  execute("dist/entries.js");
  execute("dist/flow.js");
  execute("dist/undefined.js");
  execute("--disallow-code-generation-from-strings", "dist/flow.js");
  checkStack();
  addCopy(packed);
  execute("dist/copies.js");
  console.log(`${publicEntries().length} entries compile and run in an empty folder`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** Packs the library and returns the name of the packed file. */
function pack(): string {
  const packed = run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder, library);
  return (JSON.parse(packed) as [{ readonly filename: string }])[0].filename;
}

function install(packed: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", `./${packed}`);
  const found = packagesIn(join(folder, "node_modules"));
  if (found.join() !== "stepfold") throw new RangeError(`installs ${found.join(", ")} instead of stepfold alone`);
}

/** Checks that every map of code and declarations leads to published sources. */
function checkMaps(): void {
  const maps = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".map"));
  for (const path of maps) {
    const map = join(installed, "dist", path);
    const { sources } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] };
    const missing = sources.filter((source) => !existsSync(join(dirname(map), source)) && !source.startsWith("\0"));
    if (missing.length > 0) throw new RangeError(`${path} leads to ${missing.join(", ")}, which is not published`);
  }
  if (maps.length === 0) throw new RangeError("no source maps are published");
}

/** Checks that, with source maps, a stack shows published sources and the lines of the calls. */
function checkStack(): void {
  const stack = run(process.execPath, "--enable-source-maps", "dist/failure.js");
  const frames = [...stack.matchAll(/\(?((?:file:\/\/)?[^\s(]*node_modules\/stepfold\/[^\s:]+):(\d+):\d+\)?/g)];
  const lines = frames.map(([, path = "", line]) => lineOf(path, Number(line)));
  if (!lines[0]?.includes("throw new StepfoldError(")) throw new RangeError(`the first frame does not lead to what was thrown:\n${stack}`);
}

function lineOf(path: string, line: number): string | undefined {
  if (!path.includes("/node_modules/stepfold/src/")) throw new RangeError(`a stack shows ${path} instead of a source`);
  return readFileSync(path.replace("file://", ""), "utf8").split("\n")[line - 1];
}

/** Installs the same package a second time under another name, as a tree of dependencies may contain two versions of it. */
function addCopy(packed: string): void {
  run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", `stepfold-again@file:./${packed}`);
}

function packagesIn(modules: string): string[] {
  const visible = (path: string): string[] => readdirSync(path).filter((name) => !name.startsWith("."));
  return visible(modules).flatMap((name) =>
    name.startsWith("@") ? visible(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

/** Compiles imports of every entry and the programs that use them. */
function compile(moduleResolution: "nodenext" | "bundler"): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  for (const name of ["copies.ts", "failure.ts", "flow.ts", "undefined.ts"])
    copyFileSync(`${root}/scripts/consumer/${name}`, join(folder, "src", name));
  const names = publicEntries().map(({ name }) => name);
  const imports = names.map((name, index) => `import * as entry${index} from ${JSON.stringify(name)};`);
  const uses = `if ([${names.map((_, index) => `entry${index}`)}].some((one) => Object.keys(one).length === 0)) throw new TypeError("an empty entry");`;
  writeFileSync(join(folder, "src/entries.ts"), [...imports, uses].join("\n"));
  // a file of a CommonJS project: Node.js requires an ES module for it, and TypeScript finds the types
  const required = join(folder, "src/required.cts");
  if (moduleResolution === "nodenext") writeFileSync(required, [...imports, uses].join("\n"));
  else rmSync(required, { force: true });
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: optionsFor(moduleResolution), include: ["src"] }));
  run(process.execPath, `${root}/node_modules/typescript/bin/tsc`, "-p", ".");
}

function optionsFor(moduleResolution: "nodenext" | "bundler"): Record<string, unknown> {
  return {
    target: "es2023",
    lib: ["es2023", "dom"],
    module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution,
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    rootDir: "src",
    outDir: "dist",
  };
}

function execute(...args: string[]): void {
  run(process.execPath, ...args);
}

function run(command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], shell: windows });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new TypeError(`${[command, ...args].join(" ")}\n${stdout}${stderr}`.trimEnd());
  }
}
