import { isJsonObject, type Json } from "../../../core/values/json.ts";
import { isScalar, type Marker, type Place, type ValueCodec } from "./codec.ts";
import type { Shape } from "./layout.ts";

/** A place in a copy that still waits for what its value becomes. */
interface Slot {
  readonly kind: "value" | "text" | "metadata" | "permit";
  /** JSON. */
  readonly text: string;
  fill(sealed: Json): void;
}

/**
 * Copies what has a shape and replaces the values in it. The copies are made at once, so what becomes of the originals
 * later does not matter; they are whole when `filled` resolves.
 */
export class Sealing {
  readonly #codec: ValueCodec;
  readonly #slots: Slot[] = [];

  constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  /** The copy of one part. */
  copy<T>(shape: Shape, part: T): T {
    const holder: { whole?: Json } = {};
    this.#put(shape, part as Json, (copied) => {
      holder.whole = copied;
    });
    return holder.whole as T;
  }

  /** Puts what the codec makes of the values where they were. */
  async filled(place: Place): Promise<void> {
    const { metadata, permit } = this.#codec;
    const values = this.#slots.filter(({ kind }) => kind === "value" || kind === "text");
    const sealed =
      values.length > 0
        ? await this.#codec.seal(
            values.map(({ text }) => text),
            place,
          )
        : [];
    values.forEach((slot, index) => {
      const marker = sealed[index] ?? null;
      slot.fill(this.#stored(slot, marker && { [this.#codec.mark]: 1, ...marker }));
    });
    for (const { kind, text, fill } of this.#slots) {
      const whole = kind === "metadata" ? metadata : kind === "permit" ? permit : undefined;
      if (whole) fill(await whole.seal(text, place));
    }
  }

  #stored({ kind, text }: Slot, marker: Marker | null): Json {
    const { mark } = this.#codec;
    // a value that looks like one of ours is put into one of ours
    const escaped = marker ?? (text.includes(`"${mark}`) ? { [mark]: 1, json: text } : null);
    if (escaped === null) return JSON.parse(text) as Json;
    return kind === "text" ? `${mark}:${JSON.stringify(escaped)}` : escaped;
  }

  #put(shape: Shape, part: Json, fill: (copied: Json) => void): void {
    if (typeof shape === "string") this.#putLeaf(shape, part, fill);
    else if ("listOf" in shape && Array.isArray(part)) {
      const copied: Json[] = [];
      fill(copied);
      part.forEach((member: Json, index) => {
        this.#put(shape.listOf, member, (inner) => {
          copied[index] = inner;
        });
      });
    } else if (!("listOf" in shape) && isJsonObject(part)) {
      const shapeOf = "recordOf" in shape ? () => shape.recordOf : (key: string) => shape.fields.get(key) ?? "value";
      this.#putMembers(part, shapeOf, fill);
    } else this.#putLeaf("value", part, fill);
  }

  #putMembers(part: Readonly<Record<string, Json | undefined>>, shapeOf: (key: string) => Shape, fill: (copied: Json) => void): void {
    const copied: Record<string, Json> = {};
    fill(copied);
    for (const [key, member] of Object.entries(part)) {
      if (member === undefined) continue;
      this.#put(shapeOf(key), member, (inner) => {
        Object.defineProperty(copied, key, { value: inner, enumerable: true, writable: true, configurable: true });
      });
    }
  }

  #putLeaf(leaf: string, part: Json, fill: (copied: Json) => void): void {
    if (leaf === "structure" && isScalar(part)) fill(part);
    else if (leaf === "structure" && Array.isArray(part) && part.every(isScalar)) fill([...part]);
    else if ((leaf === "metadata" || leaf === "permit") && isJsonObject(part)) this.#putWhole(leaf, part, fill);
    else {
      // keeps its place among the keys of the copy
      fill(null);
      const text = JSON.stringify(part);
      this.#slots.push({ kind: leaf === "text" && typeof part === "string" ? "text" : "value", text, fill });
    }
  }

  /** What the codec keeps in a way of its own; else what is scalar in it stays as it is. */
  #putWhole(kind: "metadata" | "permit", part: Readonly<Record<string, Json>>, fill: (copied: Json) => void): void {
    if (this.#codec[kind]) {
      fill({});
      this.#slots.push({ kind, text: JSON.stringify(part), fill });
    } else this.#putMembers(part, (key) => (isScalar(part[key]) ? "structure" : "value"), fill);
  }
}
