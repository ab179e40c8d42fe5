/** One row of the import table: a part of the house and what it may see. */
export interface Layer {
  /** Its folder below `packages/stepfold/src`; a last `*` means that each folder there is a part of its own. */
  readonly folder: string;
  /** The floor it stands on, for the reader. */
  readonly floor: string;
  /** Folders it may import, values and types. */
  readonly mayImport: readonly string[];
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
  { folder: "environment", floor: "ground", mayImport: ["ports"] },
  { folder: "stores/record", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "stores/sql", floor: "wing", mayImport: ["core", "ports", "stores/record"] },
  { folder: "stores/kit", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "stores/sqlite", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/sql"], node: true },
  { folder: "stores/databases/redis", floor: "wing", mayImport: ["core", "ports", "stores/kit"] },
  { folder: "stores/databases/upstash", floor: "wing", mayImport: ["core", "ports", "stores/kit", "stores/databases/redis"] },
  { folder: "stores/from-url", floor: "wing", mayImport: ["core", "ports", ...everyStore()], node: true },
  { folder: "stores/values", floor: "wing", mayImport: ["core", "ports", "stores/record"] },
  { folder: "stores/encrypted", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"] },
  { folder: "stores/compressed", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"], node: true },
  { folder: "stores/blobs", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"], node: true },
  { folder: "stores/tiered", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/values"] },
  { folder: "stores/*", floor: "wing", mayImport: ["core", "ports", "stores/record", "stores/sql"] },
  { folder: "queues/checked", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "queues/*", floor: "wing", mayImport: ["core", "ports", "environment", "queues/checked"] },
  { folder: "engine/node", floor: "1st floor", mayImport: ["core"] },
  {
    folder: "engine",
    floor: "1st floor",
    mayImport: ["core", "expressions", "ports", "environment", "engine/node"],
    packages: ["@cfworker/json-schema"],
  },
  { folder: "nodes/http", floor: "1st floor", mayImport: ["core", "engine/node", "nodes"], node: true },
  { folder: "nodes", floor: "1st floor", mayImport: ["core", "engine/node"] },
  { folder: "runtime", floor: "1st floor", mayImport: ["core", "ports", "environment", "engine/node", "engine"] },
  { folder: "testing", floor: "2nd floor", mayImport: ["core", "ports", "environment", "engine/node", "engine", "runtime"] },
];

/** Whoever opens a store by its URL may open any. */
function everyStore(): readonly string[] {
  const names = [
    "record",
    "sql",
    "memory",
    "sqlite",
    "libsql",
    "postgres",
    "mysql",
    "mongo",
    "dynamo",
    "databases/redis",
    "databases/upstash",
  ];
  return names.map((name) => `stores/${name}`);
}

/** `src/index.ts`, the entry `stepfold`: it only re-exports. */
export const entryMayImport: readonly string[] = ["core", "expressions", "ports", "environment", "engine/node", "engine"];

/** The packages on the roof. They may import every public entry of `stepfold`, and nothing below it. */
export const roof: readonly string[] = ["cli"];

/** The one dependency of the library. */
export const libraryDependencies: readonly string[] = ["@cfworker/json-schema"];

/**
 * The folders inside a part, from below: each row may import the rows before it, and two folders of one row know nothing of
 * each other. So no two folders import each other. `""` is the part's own folder.
 */
export const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [
    ["errors"],
    ["values"],
    ["snapshot"],
    ["definition"],
    ["transition/draft"],
    ["transition/paths"],
    ["transition/children", "transition/joins"],
    ["transition"],
    ["explain", "reading"],
    [""],
  ],
  expressions: [["evaluation"], ["syntax"], ["functions"], ["compile"], ["read-set"], [""]],
  engine: [["workflow"], ["attempt"], ["commands"], [""]],
  runtime: [["context"], ["commands", "retention"], ["worker"], ["handle"], [""]],
};

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
