import { parseSync } from "rolldown/utils";

/** A file to check. `path` is relative to the repository, with forward slashes. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** An import or re-export of a file. */
export interface Import {
  /** The specifier as written, for example `"../core/json.ts"`. */
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

/** A construct that a rule may forbid, with its line. */
export interface Finding {
  readonly what: "any" | "default export" | "eval" | "export *" | "throw new Error";
  readonly line: number;
}

interface FunctionLength {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** A name that a file declares at its top level. */
interface DeclaredName {
  readonly name: string;
  readonly isExported: boolean;
  readonly line: number;
}

/** The facts about a file that the rules need. */
export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  /** The number of lines with code, without comments and empty lines. */
  readonly codeLines: number;
  /** The text without its comments. */
  readonly code: string;
  readonly imports: readonly Import[];
  readonly findings: readonly Finding[];
  readonly functions: readonly FunctionLength[];
  readonly names: readonly DeclaredName[];
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Reads a TypeScript file into the facts that the rules check. */
export function readSource({ path, text }: SourceText): SourceFile {
  const { program, comments, errors } = parseSync(path, text, { lang: path.endsWith(".tsx") ? "tsx" : "ts" });
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  const lineAt = lineCounter(text);
  const imports: Import[] = [];
  const findings: Finding[] = [];
  const functions: FunctionLength[] = [];

  const visit = (node: SyntaxNode, name: string): void => {
    const line = lineAt(node.start);
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.push({ specifier, typeOnly: isTypeOnly(node), line });
    const what = forbidden(node);
    if (what) findings.push({ what, line });
    if (isFunction(node)) functions.push({ name: nameOf(node) ?? name, line, lines: lineAt(node.end) - line + 1 });
    for (const child of children(node)) visit(child, nameOf(node) ?? name);
  };
  visit(program as unknown as SyntaxNode, "(module)");

  const code = withoutComments(text, comments);
  const names = [...declaredNames(program as unknown as SyntaxNode, lineAt)];
  const codeLines = code.split("\n").filter((line) => line.trim() !== "").length;
  return { path, lines: lineAt(text.trimEnd().length), codeLines, code, imports, findings, functions, names };
}

function* declaredNames(program: SyntaxNode, lineAt: (offset: number) => number): Generator<DeclaredName> {
  for (const statement of children(program)) {
    const isExported = statement.type === "ExportNamedDeclaration";
    const declared = isExported ? statement.declaration : statement;
    if (!isNode(declared)) continue;
    for (const one of declared.type === "VariableDeclaration" ? children(declared) : [declared]) {
      const name = nameOfNode(one.id);
      if (name !== undefined) yield { name, isExported, line: lineAt(one.start) };
    }
  }
}

function withoutComments(text: string, comments: readonly { readonly start: number; readonly end: number }[]): string {
  let code = "";
  let at = 0;
  for (const { start, end } of comments) {
    code += text.slice(at, start);
    at = end;
  }
  return code + text.slice(at);
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

function* children(node: SyntaxNode): Generator<SyntaxNode> {
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) yield item;
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function specifierOf(node: SyntaxNode): string | undefined {
  const isImport = /^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) || /^(ImportExpression|TSImportType)$/.test(node.type);
  const { source } = node;
  return isImport && isNode(source) && typeof source.value === "string" ? source.value : undefined;
}

function isTypeOnly(node: SyntaxNode): boolean {
  if (node.type === "TSImportType" || node.importKind === "type" || node.exportKind === "type") return true;
  const specifiers = (node.specifiers ?? []) as readonly SyntaxNode[];
  return specifiers.length > 0 && specifiers.every((one) => one.importKind === "type" || one.exportKind === "type");
}

function forbidden(node: SyntaxNode): Finding["what"] | undefined {
  if (node.type === "TSAnyKeyword") return "any";
  if (node.type === "ExportDefaultDeclaration") return "default export";
  if (node.type === "ExportAllDeclaration") return "export *";
  const callee = /^(New|Call)Expression$/.test(node.type) ? nameOfNode(node.callee) : undefined;
  if (callee === "Function" || (callee === "eval" && node.type === "CallExpression")) return "eval";
  if (node.type !== "ThrowStatement") return undefined;
  const thrown = node.argument;
  return isNode(thrown) && thrown.type === "NewExpression" && nameOfNode(thrown.callee) === "Error" ? "throw new Error" : undefined;
}

function isFunction({ type }: SyntaxNode): boolean {
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

/** Returns the name of the function, variable, method or property of the node, if it has one. */
function nameOf(node: SyntaxNode): string | undefined {
  return nameOfNode(node.id) ?? nameOfNode(node.key);
}

function nameOfNode(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  const name = node.name ?? node.value;
  return typeof name === "string" ? name : undefined;
}
