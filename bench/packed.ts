import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { folderVariable } from "./database.ts";

const windows = process.platform === "win32";

/**
 * Returns a folder in which the library of a checkout is installed as users get it: packed and unpacked, next to its dependency.
 * It is made once per run.
 */
export function packedLibrary(checkout: string): string {
  const parent = process.env[folderVariable] ?? mkdtempSync(join(tmpdir(), "stepfold-bench-"));
  const folder = join(parent, `packed-${checkout.replaceAll(/\W+/g, "-")}`);
  if (existsSync(folder)) return folder;
  const making = mkdtempSync(join(parent, "packing-"));
  const modules = join(making, "node_modules");
  mkdirSync(modules);
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", making, join(checkout, "packages/stepfold")];
  const [packed] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", shell: windows, stdio: ["ignore", "pipe", "ignore"] })) as [
    { readonly filename: string },
  ];
  execFileSync("tar", ["-xzf", basename(packed.filename), "-C", "node_modules"], { cwd: making });
  renameSync(join(modules, "package"), join(modules, "stepfold"));
  symlinkSync(join(checkout, "node_modules/@cfworker"), join(modules, "@cfworker"), "junction");
  renameSync(making, folder);
  return folder;
}
