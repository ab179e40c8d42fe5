import { inspect, styleText } from "node:util";
import { control } from "./terminal.ts";

/** The styles that are used, by what they mean. */
const styles = { good: "green", bad: "red", wait: "yellow", quiet: "gray", strong: "bold", command: "cyan" } as const;

/** Gives a text the look of what it means; plain where the stream shows no colours, or `NO_COLOR` is set. */
export type Paint = (meaning: keyof typeof styles, text: string) => string;

/** @param stream the colours of which are asked for */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (styleText("bold", "x", { stream }) === "x") return plainPaint;
  return (meaning, text) => {
    const [open, close] = inspect.colors[styles[meaning]]!;
    return `${control(`[${open}m`)}${text}${control(`[${close}m`)}`;
  };
}

/** No colours at all. */
export const plainPaint: Paint = (_meaning, text) => text;
