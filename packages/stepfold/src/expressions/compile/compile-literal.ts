import { concatenate, payToRead, toText } from "../evaluation/coerce.ts";
import { charge, type Evaluate, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { setMember } from "../evaluation/plain-copy.ts";
import { isPlain, kindOf } from "../evaluation/read-member.ts";
import type { ArrayLiteral, ListItem, ObjectLiteral, TemplateText } from "../syntax/syntax.ts";
import { type Compiler, foldConstants } from "./compiler.ts";

/** Compiles a template string. */
export function compileText(compiler: Compiler, { texts, values, start }: TemplateText): Evaluate {
  const runs = values.map((value) => compiler.compile(compiler, value));
  return foldConstants(
    (frame) => {
      let text = texts[0]!;
      for (let index = 0; index < runs.length; index++) {
        text = concatenate(frame, text, toText(frame, start, runs[index]!(frame)));
        text = concatenate(frame, text, texts[index + 1]!);
      }
      return text;
    },
    ...runs,
  );
}

/** Compiles `[a, ...b]`. */
export function compileArray(compiler: Compiler, node: ArrayLiteral): Evaluate {
  const items = listOf(compileParts(compiler, node.items));
  return (frame) => {
    const result = items(frame);
    grow(frame, 8 * result.length);
    return result;
  };
}

/** An argument or array item, compiled. */
export interface ItemPart {
  readonly spread: boolean;
  readonly run: Evaluate;
  readonly position: number;
}

/** Compiles arguments or array items, each alone. */
export function compileParts(compiler: Compiler, items: readonly ListItem[]): ItemPart[] {
  return items.map(({ spread, value }) => ({ spread, run: compiler.compile(compiler, value), position: value.start }));
}

/** Returns code that makes a list of items. A spread value must be an array, and each of its items costs a step. */
export function listOf(parts: readonly ItemPart[]): (frame: Frame) => unknown[] {
  return (frame) => {
    const result: unknown[] = [];
    for (let index = 0; index < parts.length; index++) {
      const { spread, run, position } = parts[index]!;
      const value = run(frame);
      if (spread) spreadItems(frame, position, result, value);
      else result.push(value);
    }
    return result;
  };
}

function spreadItems(frame: Frame, position: number, result: unknown[], value: unknown): void {
  if (!Array.isArray(value)) failEvaluation(frame, position, `only an array can be spread here, not ${kindOf(value)}`);
  charge(frame, value.length);
  for (let index = 0; index < value.length; index++) result.push(value[index]);
}

/** Compiles `{ a: 1, [b]: 2, ...c }`. */
export function compileObject(compiler: Compiler, node: ObjectLiteral): Evaluate {
  const entries = node.entries.map(({ key, value, at }) => {
    const run = compiler.compile(compiler, value);
    if (key === null) return (frame: Frame, target: Target) => spreadMembers(frame, at, target, run(frame));
    if (typeof key === "string") return (frame: Frame, target: Target) => setMember(frame, at, target, key, run(frame));
    const name = compiler.compile(compiler, key);
    return (frame: Frame, target: Target) => setMember(frame, at, target, keyOf(frame, at, name(frame)), run(frame));
  });
  return (frame) => {
    grow(frame, 16 * entries.length);
    const target: Target = {};
    for (let index = 0; index < entries.length; index++) entries[index]!(frame, target);
    return target;
  };
}

type Target = Record<string, unknown>;

function keyOf(frame: Frame, position: number, key: unknown): string {
  if (typeof key === "string") return payToRead(frame, key);
  return typeof key === "number" ? String(key) : failEvaluation(frame, position, `a key must be a text or a number, not ${kindOf(key)}`);
}

/** Adds the members of a spread value to an object. Null and undefined have no members, as in JavaScript. */
function spreadMembers(frame: Frame, position: number, target: Target, value: unknown): void {
  if (value === null || value === undefined) return;
  if (!isPlain(value)) failEvaluation(frame, position, `only an object can be spread here, not ${kindOf(value)}`);
  const keys = Object.keys(value);
  charge(frame, keys.length);
  grow(frame, 16 * keys.length);
  for (const key of keys) setMember(frame, position, target, key, value[key]);
}
