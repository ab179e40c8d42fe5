import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { readSource, type SourceFile } from "./source-file.ts";

const isTest = /\.(test|test-d|fixture)\.tsx?$/;

/** Reads every source file of every package, without tests and their fixtures. */
export function readTree(root: string): SourceFile[] {
  return readdirSync(`${root}/packages`).flatMap((name) => readPackage(root, `packages/${name}/src`));
}

/** Lists the paths of all files in the `src` and `test` folders of all packages, tests and fixtures included. */
export function listFiles(root: string): string[] {
  return readdirSync(`${root}/packages`).flatMap((name) =>
    ["src", "test"].flatMap((folder) => pathsIn(root, `packages/${name}/${folder}`).filter((path) => statSync(`${root}/${path}`).isFile())),
  );
}

function pathsIn(root: string, folder: string): string[] {
  if (!existsSync(`${root}/${folder}`)) return [];
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .sort();
}

function readPackage(root: string, folder: string): SourceFile[] {
  return pathsIn(root, folder)
    .filter((path) => /\.tsx?$/.test(path) && !isTest.test(path))
    .map((path) => readSource({ path, text: readFileSync(`${root}/${path}`, "utf8") }));
}
