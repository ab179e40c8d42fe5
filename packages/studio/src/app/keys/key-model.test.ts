import { beforeEach, describe, expect, test } from "vitest";
import { FakeStorage } from "../../../test/storage.fixture.ts";
import { KeyModel, type KeyPress } from "./key-model.ts";

const done: string[] = [];
const binding = (keys: string) => ({ keys, does: keys, act: () => void done.push(keys) });
const pressOf = (key: string, given: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  on: "page",
  ...given,
});

beforeEach(() => void done.splice(0));

function modelWith(...keys: readonly string[]): KeyModel {
  const model = new KeyModel(new FakeStorage());
  model.add(keys.map(binding));
  return model;
}

describe("single keys", () => {
  test("a key does what it is for; others do nothing", () => {
    const model = modelWith("j");
    expect(model.press(pressOf("j"), 0)).toBe(true);
    expect(model.press(pressOf("x"), 0)).toBe(false);
    expect(done).toEqual(["j"]);
  });

  test.each<Partial<KeyPress>>([
    { on: "field" },
    { on: "overlay" },
    { ctrlKey: true },
    { metaKey: true },
    { altKey: true },
  ])("a key does nothing with %j", (given) => {
    expect(modelWith("j").press(pressOf("j", given), 0)).toBe(false);
    expect(done).toEqual([]);
  });

  test("Enter on a button presses the button; other keys still act there", () => {
    const model = modelWith("Enter", "j");
    expect(model.press(pressOf("Enter", { on: "control" }), 0)).toBe(false);
    expect(model.press(pressOf("j", { on: "control" }), 0)).toBe(true);
  });

  test("two keys one after the other", () => {
    const model = modelWith("g e");
    model.press(pressOf("g"), 0);
    expect(model.press(pressOf("e"), 1_000)).toBe(true);
    model.press(pressOf("g"), 2_000);
    expect(model.press(pressOf("e"), 9_000)).toBe(false);
    model.press(pressOf("g"), 9_000);
    model.press(pressOf("x"), 9_001);
    expect(model.press(pressOf("e"), 9_002)).toBe(false);
    expect(done).toEqual(["g e"]);
  });

  test("the later binding of a key counts, until it is taken away", () => {
    const model = modelWith("j");
    const remove = model.add([{ keys: "j", does: "other", act: () => void done.push("other") }]);
    model.press(pressOf("j"), 0);
    remove();
    model.press(pressOf("j"), 0);
    expect(done).toEqual(["other", "j"]);
  });

  test("they can be switched off, and stay off in this browser", () => {
    const storage = new FakeStorage();
    const model = new KeyModel(storage);
    model.add([binding("j")]);
    model.switch(false);
    expect(model.press(pressOf("j"), 0)).toBe(false);
    expect(new KeyModel(storage).isOn()).toBe(false);
    model.switch(true);
    expect(model.press(pressOf("j"), 0)).toBe(true);
  });
});
