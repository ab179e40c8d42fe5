import { posix } from "node:path";
import { entryMayImport, type Layer, layerOf, mayImport, roof } from "./layers.ts";
import type { Import, SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";

const library = "packages/stepfold/src/";

/** Returns the path of the file that a relative import names, or undefined for a package. */
export function targetOf(path: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}

/** Checks every import against the table of layers. */
export function checkImports(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) =>
    file.imports.flatMap((one) => {
      const message = file.path.startsWith(library) ? inLibrary(file.path, one) : onRoof(file.path, one);
      return message === undefined ? [] : [{ rule: "imports", path: file.path, line: one.line, message }];
    }),
  );
}

function inLibrary(path: string, one: Import): string | undefined {
  const own = path.slice(library.length);
  const found = layerOf(own);
  if (!found && own !== "index.ts") return "is in a folder that the table of layers does not know";
  const target = targetOf(path, one.specifier);
  if (target === undefined) return ofPackage(found?.layer, one.specifier);
  if (!target.startsWith(library)) return `${one.specifier} leaves the library`;
  if (target.endsWith("/index.ts")) return `${one.specifier} is for users: import the file that has the name`;
  if (!found) return ofEntry(target.slice(library.length));
  return ofLayer(found.layer, found.part, target.slice(library.length));
}

function ofPackage(layer: Layer | undefined, specifier: string): string | undefined {
  if (specifier.startsWith("node:")) return layer?.node ? undefined : `${specifier} exists on Node only`;
  if (layer?.takesIn?.includes(specifier)) return undefined;
  return `the package ${specifier} is not this part's to import`;
}

function ofEntry(target: string): string | undefined {
  const part = layerOf(target)?.part;
  return part !== undefined && entryMayImport.includes(part) ? undefined : `the entry "stepfold" may not import ${target}`;
}

function ofLayer(layer: Layer, part: string, target: string): string | undefined {
  const other = layerOf(target)?.part ?? target;
  return other === part || mayImport(layer, other) ? undefined : `${part} may not import ${other}`;
}

function onRoof(path: string, one: Import): string | undefined {
  const home = path.split("/").slice(0, 2).join("/");
  const target = targetOf(path, one.specifier);
  if (target !== undefined) return target.startsWith(`${home}/`) ? undefined : `${one.specifier} leaves ${home}`;
  if (!/^stepfold(\/|$)/.test(one.specifier)) return undefined;
  return roof.some((name) => `packages/${name}` === home) ? undefined : "is in a package that the table of layers does not know";
}
