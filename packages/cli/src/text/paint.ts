import { inspect, styleText } from "node:util";
import { control } from "./terminal.ts";

/** The colours and styles, by their meaning. */
const styles = { good: "green", bad: "red", wait: "yellow", quiet: "gray", strong: "bold", command: "cyan" } as const;

/** Colours a text by its meaning. The text stays plain if the stream shows no colours, or `NO_COLOR` is set. */
export type Paint = (meaning: keyof typeof styles, text: string) => string;

/** Returns the paint that fits a stream. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (styleText("bold", "x", { stream }) === "x") return plainPaint;
  return (meaning, text) => {
    const [open, close] = inspect.colors[styles[meaning]]!;
    return `${control(`[${open}m`)}${text}${control(`[${close}m`)}`;
  };
}

/** No colours at all. */
export const plainPaint: Paint = (_meaning, text) => text;
