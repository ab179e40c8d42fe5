import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseSync } from "rolldown/utils";

/** The file and the name from which an exported name comes. */
interface Origin {
  readonly file: string;
  readonly name: string;
}

/** The names that a `.d.ts` declares, re-exports and imports. */
export interface DeclarationFile {
  /** The text of each declaration without comments, by local name. */
  readonly declared: ReadonlyMap<string, string>;
  /** The origin of each exported name; this file for names that are declared here. */
  readonly exported: ReadonlyMap<string, Origin>;
}

/** A node of the syntax tree with a name or a literal value. */
interface Named {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
}

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];

const files = new Map<string, DeclarationFile>();

/** Reads a `.d.ts` file. The result is cached. */
export function readDeclarations(file: string): DeclarationFile {
  const known = files.get(file);
  if (known) return known;
  const text = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, text, { lang: "dts" });
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0]?.message}`);
  const bare = blank(text, comments);
  const declared = new Map<string, string>();
  const exported = new Map<string, Origin>();
  const imported = new Map<string, Origin>();
  for (const statement of program.body) {
    for (const name of declaredNames(statement)) {
      const before = declared.get(name);
      const own = tidy(bare.slice(statement.start, statement.end));
      declared.set(name, before === undefined ? own : `${before}\n${own}`);
      if (statement.type === "ExportNamedDeclaration") exported.set(name, { file, name });
    }
    readLinks(file, statement, imported, exported);
  }
  const result = { declared, exported };
  files.set(file, result);
  return result;
}

/** Returns the text of a declaration, also if the file exports it from another file. */
export function declarationOf(file: string, name: string): string {
  const { declared, exported } = readDeclarations(file);
  const origin = exported.get(name);
  if (!origin) throw new ReferenceError(`${file} does not export ${name}`);
  if (origin.file !== file) return declarationOf(origin.file, origin.name);
  const text = declared.get(origin.name);
  if (text === undefined) throw new ReferenceError(`${file} does not declare ${name}`);
  return text;
}

function readLinks(file: string, statement: Statement, imported: Map<string, Origin>, exported: Map<string, Origin>): void {
  if (statement.type === "ImportDeclaration") {
    const source = resolveFrom(file, statement.source.value);
    for (const one of statement.specifiers) {
      if (one.type === "ImportSpecifier" && source) imported.set(one.local.name, { file: source, name: nameOf(one.imported) });
    }
  }
  if (statement.type !== "ExportNamedDeclaration") return;
  const source = statement.source && resolveFrom(file, statement.source.value);
  for (const { local, exported: as } of statement.specifiers) {
    const origin = source ? { file: source, name: nameOf(local) } : imported.get(nameOf(local));
    exported.set(nameOf(as), origin ?? { file, name: nameOf(local) });
  }
}

function resolveFrom(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const path = resolve(dirname(file), specifier.replace(/\.(ts|js)$/, ".d.ts"));
  return existsSync(path) ? path : undefined;
}

function declaredNames(statement: Statement): string[] {
  const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (!inner) return [];
  if (inner.type === "VariableDeclaration") return inner.declarations.map(({ id }) => nameOf(id));
  return "id" in inner && inner.id ? [nameOf(inner.id)] : [];
}

function nameOf(node: Named): string {
  return node.name ?? String(node.value);
}

/** Replaces comments with spaces, so that offsets stay valid. */
function blank(text: string, comments: readonly { readonly start: number; readonly end: number }[]): string {
  let bare = text;
  for (const { start, end } of comments) bare = bare.slice(0, start) + " ".repeat(end - start) + bare.slice(end);
  return bare;
}

function tidy(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n")
    .replace(/^export (declare )?/, "");
}
