// Packs the library, installs it in an empty folder and uses it there: as many packages as promised, types that
// compile without skipLibCheck and without @types/node, code that runs without code generation.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libraryDependencies } from "./architecture/layers.ts";
import { library, publicEntries, root } from "./public-entries.ts";

const windows = process.platform === "win32";
const folder = mkdtempSync(join(tmpdir(), "stepfold-consumer-"));
try {
  install();
  compile("nodenext");
  compile("bundler");
  execute("dist/entries.js");
  execute("dist/flow.js");
  execute("--disallow-code-generation-from-strings", "dist/flow.js");
  console.log(`${publicEntries().length} entries compile and run in an empty folder`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

function install(): void {
  const packed = JSON.parse(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder, library)) as [
    { filename: string },
  ];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", `./${packed[0].filename}`);
  const expected = ["stepfold", ...libraryDependencies].sort();
  const installed = packagesIn(join(folder, "node_modules")).sort();
  if (installed.join() !== expected.join()) throw new RangeError(`installs ${installed.join(", ")} instead of ${expected.join(", ")}`);
}

function packagesIn(modules: string): string[] {
  const visible = (path: string): string[] => readdirSync(path).filter((name) => !name.startsWith("."));
  return visible(modules).flatMap((name) =>
    name.startsWith("@") ? visible(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

/** Compiles every entry and a flow that uses them. */
function compile(moduleResolution: "nodenext" | "bundler"): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  copyFileSync(`${root}/scripts/consumer/flow.ts`, join(folder, "src/flow.ts"));
  const names = publicEntries().map(({ name }) => name);
  const imports = names.map((name, index) => `import * as entry${index} from ${JSON.stringify(name)};`);
  const uses = `if ([${names.map((_, index) => `entry${index}`)}].some((one) => Object.keys(one).length === 0)) throw new TypeError("an empty entry");`;
  writeFileSync(join(folder, "src/entries.ts"), [...imports, uses].join("\n"));
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
