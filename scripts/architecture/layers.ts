/** One row of the import table: a part of the house and what it may see. */
export interface Layer {
  /** Its folder below `packages/stepfold/src`; a last `*` means that each folder there is a part of its own. */
  readonly folder: string;
  /** The floor it stands on, for the reader. */
  readonly floor: string;
  /** Folders it may import, values and types. */
  readonly mayImport: readonly string[];
  /** Folders it may import types of. */
  readonly typesOf?: readonly string[];
  /** Single files of other parts that it may import too. */
  readonly files?: readonly string[];
  /** Packages it may import. */
  readonly packages?: readonly string[];
  /** Runs on Node only, so it may import `node:` modules. */
  readonly node?: true;
}

/** The house, from the foundation up. Everything that is not written here is forbidden. */
export const layers: readonly Layer[] = [
  { folder: "core", floor: "foundation", mayImport: [] },
  { folder: "expressions", floor: "ground", mayImport: ["core"] },
  { folder: "ports", floor: "ground", mayImport: ["core"] },
  { folder: "stores/record", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "stores/sql", floor: "wing", mayImport: ["core", "ports", "stores/record"] },
  { folder: "stores/lua", floor: "wing", mayImport: ["core", "ports", "stores/record"] },
  { folder: "stores/sqlite", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/sql"], node: true },
  { folder: "stores/redis", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/lua"] },
  { folder: "stores/upstash", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/lua"] },
  { folder: "stores/from-url", floor: "wing", mayImport: ["core", "ports", ...everyStore()], node: true },
  { folder: "stores/values", floor: "wing", mayImport: ["core", "ports", "stores/record"] },
  { folder: "stores/encrypted", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"] },
  { folder: "stores/compressed", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"], node: true },
  { folder: "stores/blobs", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"], node: true },
  { folder: "stores/tiered", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"] },
  { folder: "stores/*", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/sql"] },
  { folder: "queues/checked", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "queues/*", floor: "wing", mayImport: ["core", "ports", "queues/checked"], files: ["environment/system-environment.ts"] },
  { folder: "feeds/*", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "engine", floor: "1st floor", mayImport: ["core", "expressions", "ports"], packages: ["@cfworker/json-schema"] },
  { folder: "nodes/http", floor: "1st floor", mayImport: ["core", "nodes"], typesOf: ["engine"], files: forNodes(), node: true },
  { folder: "nodes", floor: "1st floor", mayImport: ["core"], typesOf: ["engine"], files: forNodes() },
  { folder: "runtime", floor: "1st floor", mayImport: ["core", "engine", "ports"] },
  { folder: "runners", floor: "1st floor", mayImport: ["core", "ports", "runtime"] },
  { folder: "client", floor: "2nd floor", mayImport: ["core"] },
  { folder: "testing", floor: "2nd floor", mayImport: ["core", "ports", "engine", "runtime"] },
];

/** Whoever opens a store by its URL may open any. */
function everyStore(): readonly string[] {
  const names = ["record", "sql", "memory", "sqlite", "libsql", "postgres", "mysql", "mongo", "dynamo", "redis", "upstash"];
  return names.map((name) => `stores/${name}`);
}

/** What whoever writes a node needs at run time; users get the same three from `stepfold`. */
function forNodes(): readonly string[] {
  return ["engine/node/define-node.ts", "engine/node/fatal-error.ts", "engine/node/retry-after-error.ts"];
}

/** `src/index.ts`, the entry `stepfold`: it only re-exports. */
export const entryMayImport: readonly string[] = ["core", "expressions", "ports", "engine"];

/** One row for a package on the roof: the entries of `stepfold` it may see. */
export interface RoofPackage {
  readonly name: string;
  /** `"*"` is any public entry. */
  readonly entries: readonly string[];
}

export const roof: readonly RoofPackage[] = [
  { name: "server", entries: ["*"] },
  { name: "studio", entries: ["stepfold/client", "stepfold/core"] },
  { name: "cli", entries: ["*"] },
];

/** The one dependency of the library. */
export const libraryDependencies: readonly string[] = ["@cfworker/json-schema"];

/** The row that a file of the library belongs to, and the folder that is its part. */
export function layerOf(path: string): { readonly layer: Layer; readonly part: string } | undefined {
  for (const layer of layers) {
    const part = partOf(layer.folder, path);
    if (part !== undefined) return { layer, part };
  }
  return undefined;
}

function partOf(folder: string, path: string): string | undefined {
  if (!folder.endsWith("/*")) return path.startsWith(`${folder}/`) ? folder : undefined;
  const [wing, name, ...rest] = path.split("/");
  return `${wing}/*` === folder && rest.length > 0 ? `${wing}/${name}` : undefined;
}
