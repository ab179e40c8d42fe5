import { isJsonObject, type Json, type Node } from "stepfold/core";
import type { IconName } from "../../ui/icons/icon.tsx";

/** The icons of the built-in node types. */
const icons: ReadonlyMap<string, IconName> = new Map<string, IconName>([
  ["approval", "user-check"],
  ["end", "flag"],
  ["fail", "octagon-x"],
  ["http", "globe"],
  ["if", "split"],
  ["map", "layers"],
  ["noop", "circle-dashed"],
  ["race", "trophy"],
  ["sendSignal", "send"],
  ["set", "pencil-line"],
  ["signal", "radio"],
  ["switch", "git-fork"],
  ["wait", "timer"],
  ["workflow", "workflow"],
]);
/** The longest fact about a type, in characters. */
const maxFact = 60;

/** The icon of a node; types that are not built in have one for all. */
export function iconOf({ type }: Pick<Node, "type">): IconName {
  return icons.get(type) ?? "square-terminal";
}

/** The type of a node and its one telling fact: `http · POST /charges`. */
export function typeLine({ type, data }: Pick<Node, "type" | "data">): string {
  const fact = factOf(type, isJsonObject(data) ? data : {});
  return fact === "" ? type : `${type} · ${fact.length > maxFact ? `${fact.slice(0, maxFact - 1)}…` : fact}`;
}

function factOf(type: string, data: { readonly [key: string]: Json }): string {
  switch (type) {
    case "http":
      return `${textOf(data.method) || "GET"} ${pathOf(textOf(data.url))}`;
    case "map":
    case "workflow":
      return textOf(data.workflow);
    case "signal":
    case "sendSignal":
      return textOf(data.name);
    case "if":
      return expressionOf(data.condition);
    case "switch":
      return expressionOf(data.value);
    case "wait":
      return expressionOf(data.for) || expressionOf(data.until);
    default:
      return "";
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** An expression without its braces. */
function expressionOf(value: Json | undefined): string {
  return textOf(value)
    .replace(/^\s*\{\{\s*|\s*\}\}\s*$/g, "")
    .trim();
}

/** What follows the host of a URL, or the expression that gives it. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/^\{\{.*?\}\}/, "");
  return path.split(/[?#]/)[0] || "/";
}
