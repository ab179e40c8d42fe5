// Writes the published code of every package into its dist, next to the declarations that the compiler wrote there, and the documentation
// into the package of the library.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { buildPage } from "./packaging/build-page.ts";
import { bundledPackages, bundlePackage } from "./packaging/bundle-package.ts";
import { packageDocs } from "./packaging/package-docs.ts";
import { library } from "./public-entries.ts";

for (const bundled of bundledPackages) {
  const dist = `${bundled.folder}/dist`;
  const files = await bundlePackage(bundled);
  for (const file of files) writeIfChanged(`${dist}/${file.fileName}`, file.type === "chunk" ? file.code : file.source);
  const written = new Set(files.map(({ fileName }) => fileName));
  for (const path of codeBelow(dist)) if (!written.has(path)) rmSync(`${dist}/${path}`);
}
await buildPage();
const docs = packageDocs();
for (const [path, text] of docs) writeIfChanged(`${library}/${path}`, text);
for (const path of readdirSync(`${library}/docs`, { recursive: true, encoding: "utf8" }).map(
  (name) => `docs/${name.replaceAll("\\", "/")}`,
))
  if (path.endsWith(".md") && !docs.has(path)) rmSync(`${library}/${path}`);

/** Writes a file only if its content changes, so that a process that loads an unchanged file never reads half of it. */
function writeIfChanged(path: string, content: string | Uint8Array): void {
  if (existsSync(path) && readFileSync(path, "utf8") === content) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function codeBelow(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  // what is below `app` is the page of Studio, which has a build of its own
  return paths.filter((path) => /\.js(\.map)?$/.test(path) && !path.startsWith("app/"));
}
