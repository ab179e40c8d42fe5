import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import type { CallSite, ListedFunction } from "../functions/argument.ts";
import { utf8 } from "./bytes.ts";
import { sha256Bytes } from "./digest.ts";
import { hex } from "./hash-functions.ts";

/**
 * Returns random bytes that depend only on the step, its attempt, the place in the definition, and how many values the same
 * evaluation has drawn before. An attempt that is performed again gets the same bytes.
 */
function draw(frame: Frame, { name, position }: CallSite): Uint8Array {
  charge(frame, 16);
  const { seed } = frame.scope;
  if (typeof seed !== "function")
    failEvaluation(frame, position, `${name} works only in the data of a step, where each attempt has its own seed`);
  const { pointer = "", offset } = frame.unit;
  return sha256Bytes(utf8(`${String(seed())} ${pointer} ${offset + position} ${frame.draws++}`));
}

/** Returns a number from 0 up to, but not including, 1. */
function share(frame: Frame, site: CallSite): number {
  const view = new DataView(draw(frame, site).buffer);
  return ((view.getUint32(0) >>> 5) * 2 ** 26 + (view.getUint32(4) >>> 6)) / 2 ** 53;
}

const uuid: ListedFunction = (frame, site) => {
  grow(frame, 36);
  const bytes = draw(frame, site).slice(0, 16);
  // The version (4) and the variant of the UUID.
  bytes[6] = (bytes[6]! & 15) | 0x40;
  bytes[8] = (bytes[8]! & 63) | 0x80;
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};

const randomItem: ListedFunction = (frame, site, self) => {
  if (!Array.isArray(self)) failEvaluation(frame, site.position, "randomItem() works on arrays");
  return self[Math.floor(share(frame, site) * self.length)];
};

/** Random functions. They return the same values when an attempt is performed again. */
export const seededFunctions: readonly (readonly [string, ListedFunction])[] = [
  ["uuid", uuid],
  ["Math.random", (frame, site) => share(frame, site)],
  ["randomItem", randomItem],
];
