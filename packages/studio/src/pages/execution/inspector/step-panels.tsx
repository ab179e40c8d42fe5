import type { ReactNode } from "react";
import type { ErrorInfo } from "stepfold/core";
import { useStudio } from "../../../app/studio-context.ts";
import type { NodeStep, NodeSteps } from "../../../model/node-steps.ts";
import { cutBytes } from "../../../model/value/json-tree.ts";
import { Badge } from "../../../ui/controls/badge.tsx";
import { FailureState } from "../../../ui/feedback/failure-state.tsx";
import { Skeleton } from "../../../ui/feedback/skeleton.tsx";
import layout from "../../../ui/layout.module.css";
import { StatusGlyph } from "../../../ui/status/status-glyph.tsx";
import { countText } from "../../../ui/text/number-text.ts";
import { ClockTime } from "../../../ui/text/time.tsx";
import { durationText } from "../../../ui/text/time-text.ts";
import { useShown } from "../execution-context.ts";
import { JsonView } from "../tabs/json-view.tsx";
import styles from "./panel.module.css";
import { useStep } from "./use-step.ts";

/** What the last attempt of a node had read. The server works it out. */
export function InputPanel({ step }: { readonly step: NodeStep | null }): ReactNode {
  const { model } = useShown();
  const { me } = useStudio();
  const asked = useStep(model.id, step?.version ?? null);
  if (!step) return <Nothing>It has not run yet: its input is read when it does.</Nothing>;
  if (asked.failure)
    return <FailureState failure={asked.failure} title="The input could not be read" needs="values" me={me} onRetry={asked.retry} />;
  if (!asked.step) return <Loading />;
  const { input } = asked.step;
  if (!input) return <Nothing>This end has no attempt of its own, so nothing was read.</Nothing>;
  return (
    <div className={layout.pane}>
      <Section title="Data" note={`of attempt ${input.attempt}, v${step.version}; globals are ***`}>
        <JsonView value={input.data} label="Data" />
      </Section>
      {input.error && <ErrorLines error={input.error} />}
      {input.incoming !== undefined && (
        <Section title="From the step before">
          <JsonView value={input.incoming} label="Output of the step before" levels={1} />
        </Section>
      )}
      {input.resumed && (
        <Section title="Why it went on">
          <JsonView value={input.resumed} label="Why it went on" />
        </Section>
      )}
    </div>
  );
}

/** What the last attempt of a node has put out. */
export function OutputPanel({ step }: { readonly step: NodeStep | null }): ReactNode {
  const { model } = useShown();
  const { me } = useStudio();
  // the stream may have told only the size
  const isCut = step !== null && cutBytes(step.output) !== null && me.scopes.includes("values");
  const asked = useStep(model.id, isCut ? step.version : null);
  if (!step) return <Nothing>It has not run yet.</Nothing>;
  const event = asked.step?.event;
  const output = event && "output" in event ? event.output : step.output;
  if (isCut && !event) {
    if (asked.failure)
      return <FailureState failure={asked.failure} title="The output could not be read" needs="values" me={me} onRetry={asked.retry} />;
    return <Loading />;
  }
  return (
    <div className={layout.pane}>
      {step.error && <ErrorLines error={step.error} />}
      {output === undefined ? (
        <p className={layout.hint}>{step.outcome === "failed" ? "The attempt failed, so there is no output." : "There is no output."}</p>
      ) : (
        <Section title={step.outcome === "waits" ? "What it waits with" : "Output"} note={`v${step.version}`}>
          <JsonView value={output} label="Output" />
        </Section>
      )}
      {step.handles.some((handle) => handle !== "") && (
        <p className={layout.hint}>
          Left by <code>{step.handles.join(", ")}</code>.
        </p>
      )}
    </div>
  );
}

/** An error: its code, its message, and what else it says. */
export function ErrorLines({ error }: { readonly error: ErrorInfo }): ReactNode {
  const { code, name, message, details, cause } = error;
  return (
    <Section title="">
      <div className={styles.codeLine}>
        <Badge isMono status="failed">
          {code ?? name}
        </Badge>
        {code !== undefined && name}
      </div>
      <p className={styles.question}>{message === "" ? "Its message is not visible to you." : message}</p>
      {details !== undefined && <JsonView value={details} label="Details of the error" levels={2} />}
      {cause && (
        <p className={layout.hint}>
          Item {countText(cause.item)}: {cause.code ?? cause.name} {cause.message}
        </p>
      )}
    </Section>
  );
}

const glyphs = { completed: "completed", failed: "failed", waits: "paused", runs: "active" } as const;

/** The attempts of a node, the latest first. */
export function AttemptsPanel({ steps }: { readonly steps: NodeSteps }): ReactNode {
  if (steps.steps.length === 0) return <Nothing>It has not run yet.</Nothing>;
  return (
    <div className={layout.pane}>
      <AttemptList steps={steps} />
    </div>
  );
}

/** One line for each attempt. */
export function AttemptList({ steps: { steps, hasMore } }: { readonly steps: NodeSteps }): ReactNode {
  return (
    <>
      <ol className={styles.list}>
        {steps.map((step) => (
          <li key={step.version} className={styles.entry}>
            <StatusGlyph status={glyphs[step.outcome]} isMoving={false} />
            <b>{step.attempt}</b>
            <ClockTime at={step.startedAt ?? step.at} />
            <span className={styles.reason} data-tip={detailOf(step)} data-tip-cut="">
              {detailOf(step)}
            </span>
            <span className={styles.took}>{step.startedAt === null ? "" : durationText(step.at - step.startedAt)}</span>
          </li>
        ))}
      </ol>
      {hasMore && <p className={layout.hint}>The last {countText(steps.length)}; the tab Events has all.</p>}
    </>
  );
}

function detailOf({ outcome, error, retryAt, at, handles, isUndo }: NodeStep): string {
  const undo = isUndo ? "undo, " : "";
  if (outcome === "waits") return `${undo}waits`;
  if (outcome === "runs") return `${undo}runs what it started`;
  if (outcome === "completed") return `${undo}${handles.filter(Boolean).join(", ")}`;
  const told = error ? [error.code, error.message].filter(Boolean).join(": ") : "";
  const waited = retryAt === null ? "" : `then waited ${durationText(retryAt - at)}`;
  return undo + [told, waited].filter(Boolean).join(", ");
}

/** A titled part of a panel. */
export function Section({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className={styles.section}>
      {title !== "" && (
        <h3 className={layout.label}>
          {title} {note && <span className={layout.labelNote}>{note}</span>}
        </h3>
      )}
      {children}
    </section>
  );
}

function Nothing({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className={layout.pane}>
      <p className={layout.hint}>{children}</p>
    </div>
  );
}

function Loading(): ReactNode {
  return (
    <div className={layout.pane} aria-busy="true">
      <Skeleton width="60%" />
      <Skeleton width="80%" />
      <Skeleton width="40%" />
    </div>
  );
}
