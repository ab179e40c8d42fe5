import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readSource, type SourceFile } from "./source-file.ts";

const isTest = /\.(test|test-d|fixture)\.ts$/;

/** Every source file of every package, without tests and their fixtures. */
export function readTree(root: string): SourceFile[] {
  return readdirSync(`${root}/packages`).flatMap((name) => readPackage(root, `packages/${name}/src`));
}

function readPackage(root: string, folder: string): SourceFile[] {
  if (!existsSync(`${root}/${folder}`)) return [];
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !isTest.test(path))
    .sort()
    .map((path) => readSource({ path, text: readFileSync(`${root}/${path}`, "utf8") }));
}
