import type { ReactNode } from "react";
import type { NodeState } from "../model/replay/execution-state.ts";
import type { BarKind, BarLine } from "../model/time/timeline-bars.ts";
import { type DrawnBar, type DrawnIn, drawnBars } from "../model/time/timeline-rows.ts";
import { classNames } from "../ui/class-names.ts";
import layout from "../ui/layout.module.css";
import { StatusGlyph } from "../ui/status/status-glyph.tsx";
import { nounText } from "../ui/text/number-text.ts";
import { Countdown } from "../ui/text/time.tsx";
import { durationText } from "../ui/text/time-text.ts";
import styles from "./timeline.module.css";

/** The most bars on the page. */
const maxBars = 700;

/** Returns the bars of the lines in sight; of lines with very many, fewer and wider ones. */
export function drawnLines(lines: readonly BarLine[], drawnIn: Omit<DrawnIn, "most">): DrawnBar[][] {
  const whole = lines.map((line) => drawnBars(line, { ...drawnIn, most: maxBars }));
  const count = whole.reduce((sum, { length }) => sum + length, 0);
  if (count <= maxBars) return whole;
  const most = Math.floor(maxBars / lines.length);
  return lines.map((line, index) => (whole[index]!.length <= most ? whole[index]! : drawnBars(line, { ...drawnIn, most })));
}

/** One node of the timeline. */
export function TimelineRow(props: {
  readonly line: BarLine;
  readonly bars: readonly DrawnBar[];
  readonly name: string;
  readonly node: NodeState | null;
  /** Where what goes on ends. */
  readonly end: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (nodeId: string) => void;
}): ReactNode {
  const { line, bars, name, node, end, top, isSelected, onSelect } = props;
  return (
    <div className={classNames(styles.row, isSelected && styles.isSelected)} style={{ top }}>
      <button type="button" className={styles.name} aria-pressed={isSelected} onClick={() => onSelect(line.nodeId)}>
        <StatusGlyph status={node?.status ?? "not-yet"} />
        <span className={layout.cut} data-tip={name} data-tip-cut="">
          {name}
        </span>
      </button>
      <span className={styles.track}>
        {bars.map((bar, index) => (
          <i
            // biome-ignore lint/suspicious/noArrayIndexKey: bars have no other name
            key={index}
            className={styles.bar}
            data-kind={bar.kind}
            data-open={bar.isOpen || undefined}
            data-small={bar.width < 0.006 || undefined}
            data-tip={barText(bar)}
            style={{ left: `${(100 * bar.left).toFixed(3)}%`, width: `${(100 * bar.width).toFixed(3)}%` }}
          />
        ))}
      </span>
      <span className={styles.end}>
        <EndText line={line} node={node} end={end} />
      </span>
    </div>
  );
}

const words: Readonly<Record<BarKind, readonly [one: string, noun: string]>> = {
  done: ["attempt", "attempt"],
  failed: ["failed attempt", "failed attempt"],
  running: ["runs", "run"],
  delay: ["retry delay", "retry delay"],
  waits: ["waits", "wait"],
  stopped: ["stopped attempt", "stopped attempt"],
  children: ["items or a sub-workflow", "run"],
};

function barText({ kind, count, ms, isOpen }: DrawnBar): string {
  const [one, noun] = words[kind];
  return `${count === 1 ? one : nounText(count, noun)}, ${durationText(ms)}${isOpen ? " so far" : ""}`;
}

/** The fact that matters: when it goes on, how often it was tried, how long it took. */
function EndText({ line, node, end }: { readonly line: BarLine; readonly node: NodeState | null; readonly end: number }): ReactNode {
  if (node?.status === "retrying" && node.standing?.until)
    return (
      <>
        in <Countdown until={node.standing.until} />
      </>
    );
  if (node?.status === "cancelled") return "cancelled";
  if (node?.undo) return node.undo;
  if (node && node.visits > 1) return nounText(node.visits, "visit");
  if (line.attempts > 1 && line.bars.some(({ kind }) => kind === "failed")) return nounText(line.attempts, "attempt");
  const [first] = line.bars;
  if (node?.open === null && node.tookMs !== null) return durationText(node.tookMs);
  return first ? durationText((line.bars.at(-1)!.to ?? end) - first.from) : "";
}
