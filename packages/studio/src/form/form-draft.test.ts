import { describe, expect, it, vi } from "vitest";
import { FormDraft } from "./form-draft.ts";

const schema = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    comment: { type: "string" },
    address: { type: "object", properties: { zip: { type: "string" } } },
  },
  required: ["approved"],
} as const;

function draftOf(given: ConstructorParameters<typeof FormDraft>[0] = schema): FormDraft {
  let keys = 0;
  return new FormDraft(given, () => `key-${++keys}`);
}

const refusal = (code: string, details: unknown = undefined): Error => Object.assign(new Error(`refused: ${code}`), { code, details });
const refuses = (error: unknown) => (): Promise<void> => Promise.reject(error);

describe("FormDraft", () => {
  it("begins empty, and sends nothing that lacks what is needed", async () => {
    const draft = draftOf();
    const submit = vi.fn();
    expect([draft.isTouched, draft.input("/approved")]).toEqual([false, ""]);
    expect(await draft.send(submit)).toBe(false);
    expect([submit.mock.calls.length, draft.issues.get("/approved")]).toEqual([0, "Choose one"]);
    draft.put("/approved", "1");
    expect([draft.issues.size, draft.isTouched]).toEqual([0, true]);
    expect(await draft.send(submit)).toBe(true);
    expect(submit).toHaveBeenCalledExactlyOnceWith({ approved: false }, "key-1");
  });

  it("is one answer if it is pressed twice, or sent again after the connection was lost", async () => {
    const draft = draftOf();
    draft.put("/approved", "0");
    let fail: (error: Error) => void = () => undefined;
    const slow = vi.fn(() => new Promise<void>((_, reject) => (fail = reject)));
    const first = draft.send(slow);
    expect([draft.isBusy, await draft.send(slow), slow.mock.calls.length]).toEqual([true, false, 1]);
    fail(refusal("CONNECTION_LOST"));
    expect(await first).toBe(false);
    expect(draft.problem).toEqual({ code: "CONNECTION_LOST", message: "refused: CONNECTION_LOST" });
    const again = vi.fn(() => Promise.resolve());
    expect(await draft.send(again)).toBe(true);
    expect([...slow.mock.calls, ...again.mock.calls].map((call) => (call as unknown[])[1])).toEqual(["key-1", "key-1"]);
    draft.put("/comment", "and this");
    await draft.send(again);
    expect(again.mock.lastCall).toEqual([{ approved: true, comment: "and this" }, "key-2"]);
  });

  it("shows what the server says of the value under its fields, and keeps the text", async () => {
    const draft = draftOf();
    draft.put("/approved", "0");
    draft.put("/comment", "long text");
    const issues = [
      { pointer: "/comment", message: "must have at most 3 characters" },
      { pointer: "/address/zip/0", message: "is odd" },
      { pointer: "/comment", message: "second" },
    ];
    await draft.send(refuses(refusal("RESUME_INVALID", { issues })));
    expect([...draft.issues]).toEqual([
      ["/comment", "must have at most 3 characters"],
      ["/address/zip", "is odd"],
    ]);
    expect([draft.problem, draft.input("/comment"), draft.isBusy]).toEqual([null, "long text", false]);
  });

  it("says with its code what belongs to no field, whatever was thrown", async () => {
    const draft = draftOf();
    draft.put("/approved", "0");
    const placeless = {
      issues: [
        { pointer: "", message: 'lacks "x"' },
        { pointer: "/other", message: "no" },
      ],
    };
    await draft.send(refuses(refusal("RESUME_INVALID", placeless)));
    expect(draft.problem).toEqual({ code: "RESUME_INVALID", message: 'lacks "x"; /other no' });
    for (const thrown of [
      new Error("x"),
      "text",
      { details: { issues: "no" } },
      { code: 7, details: { issues: [null, {}] } },
      Object.create(null),
    ]) {
      await draft.send(refuses(thrown));
      expect(draft.problem?.code).toBe("UNKNOWN");
    }
  });

  it("shows the same value as JSON and as fields", async () => {
    const draft = draftOf();
    draft.put("/comment", "hi");
    draft.switchTo(true);
    expect(JSON.parse(draft.json)).toEqual({ comment: "hi" });
    draft.putJson('{"approved":true,"comment":"ho"}');
    draft.switchTo(false);
    expect([draft.isJson, draft.input("/approved"), draft.input("/comment")]).toEqual([false, "0", "ho"]);
    draft.switchTo(true);
    draft.putJson('{"approved":true,"more":1}');
    draft.switchTo(false);
    expect([draft.isJson, draft.issues.get("")]).toEqual([true, "The fields cannot hold all of this"]);
    draft.putJson("{");
    draft.switchTo(false);
    expect(draft.issues.get("")).toMatch(/^Is not JSON/);
    const submit = vi.fn();
    draft.putJson('{"approved":true,"more":1}');
    expect(await draft.send(submit)).toBe(true);
    expect(submit).toHaveBeenCalledWith({ approved: true, more: 1 }, "key-1");
  });

  it("takes any value as JSON where no schema is known, also none", async () => {
    const draft = draftOf(true);
    const submit = vi.fn();
    expect([draft.isJson, draft.fields]).toEqual([true, null]);
    draft.switchTo(false);
    expect(draft.isJson).toBe(true);
    await draft.send(submit);
    draft.putJson("[1]");
    await draft.send(submit);
    expect(submit.mock.calls).toEqual([
      [undefined, "key-1"],
      [[1], "key-2"],
    ]);
  });

  it("makes keys that differ, and tells its listeners", async () => {
    const keys = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const draft = new FormDraft(true);
      await draft.send(async (_value, key) => void keys.add(key));
    }
    expect([keys.size, [...keys][0]!.length]).toEqual([20, 32]);
    const draft = draftOf();
    const listener = vi.fn();
    const stop = draft.subscribe(listener);
    draft.put("/comment", "a");
    stop();
    draft.put("/comment", "b");
    expect([listener.mock.calls.length, draft.revision()]).toEqual([1, 2]);
  });
});
