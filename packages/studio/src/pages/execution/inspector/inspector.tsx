import { type ReactNode, useMemo } from "react";
import type { ErrorInfo, Event, Node } from "stepfold/core";
import { iconOf, typeLine } from "../../../graph/card/node-kind.ts";
import { type NodeSteps, nodeSteps } from "../../../model/node-steps.ts";
import { rootNode } from "../../../model/places.ts";
import { type NodeState, nodeStateOf } from "../../../model/replay/execution-state.ts";
import { Button } from "../../../ui/controls/button.tsx";
import { type TabEntry, TabPanel, Tabs } from "../../../ui/controls/tabs.tsx";
import { IconSquare } from "../../../ui/icons/icon-square.tsx";
import layout from "../../../ui/layout.module.css";
import { StatusChip } from "../../../ui/status/status-word.tsx";
import { countText } from "../../../ui/text/number-text.ts";
import { useShown } from "../execution-context.ts";
import { JsonView } from "../tabs/json-view.tsx";
import styles from "./inspector.module.css";
import { AttemptList, AttemptsPanel, ErrorLines, InputPanel, OutputPanel, Section } from "./step-panels.tsx";
import { WaitPanel } from "./wait-panel.tsx";

/** The most attempts that are listed. */
const maxAttempts = 50;

/** A part of what is known of a node. */
export type InspectorTab = "wait" | "error" | "event" | "input" | "output" | "attempts" | "definition";

/** What the inspector is asked for. */
interface InspectorProps {
  readonly nodeId: string;
  /** Null: the definition is not known. */
  readonly node: Node | null;
  /** The event of the version that is looked at, if events are looked at. */
  readonly event: Event | null;
  /** Null: the tab that tells most. */
  readonly tab: InspectorTab | null;
  readonly onTab: (tab: InspectorTab) => void;
  readonly onClose: () => void;
}

/** What is known of the node. */
interface Inspected {
  readonly state: NodeState;
  readonly steps: NodeSteps;
  /** The error of its last attempt. Null: it did not fail. */
  readonly error: ErrorInfo | null;
}

/** Everything about the selected node at the version that is shown. */
export function Inspector(props: InspectorProps): ReactNode {
  const { nodeId, event, tab, onTab } = props;
  const { model, revision, version, state: shownState, nameOf } = useShown();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the events grow in place
  const steps = useMemo(() => nodeSteps(model.events, nodeId, version, maxAttempts), [model, revision, nodeId, version]);
  const state = nodeStateOf(shownState, nodeId);
  const hasFailed = state.status === "failed" || state.status === "retrying";
  const inspected: Inspected = { state, steps, error: hasFailed ? (steps.steps[0]?.error ?? null) : null };
  const tabs = useTabs(props, inspected);
  const selected = tabs.find(({ id }) => id === tab)?.id ?? openedTab(tabs, event !== null, inspected.error !== null);
  return (
    <aside className={styles.inspector} aria-label={nameOf(nodeId)}>
      <InspectorHead {...props} state={state} />
      <Tabs label={`About ${nameOf(nodeId)}`} group="inspector" tabs={tabs} selected={selected} onSelect={onTab} isSmall />
      <TabPanel group="inspector" id={selected} className={styles.panel}>
        <InspectorPanel {...props} {...inspected} selected={selected} />
      </TabPanel>
    </aside>
  );
}

function useTabs(
  { nodeId, node, event }: InspectorProps,
  { steps: { steps, hasMore }, error }: Inspected,
): readonly TabEntry<InspectorTab>[] {
  const { explanation, waits, drafts, isPast } = useShown();
  const isHere = ({ address }: { readonly address: string }): boolean => rootNode(address) === nodeId;
  const hasLost = !isPast && drafts.lost(new Set(waits.map(({ id }) => id))).some(({ wait }) => isHere(wait));
  const isOpen = hasLost || waits.some(isHere) || explanation?.places.some(isHere);
  const count = steps.length > 1 ? `${countText(steps.length)}${hasMore ? "+" : ""}` : undefined;
  return [
    ...(isOpen ? [{ id: "wait", word: "Wait" } as const] : []),
    ...(error ? [{ id: "error", word: "Error" } as const] : []),
    ...(event ? [{ id: "event", word: "Event" } as const] : []),
    { id: "input", word: "Input" },
    { id: "output", word: "Output" },
    { id: "attempts", word: "Attempts", count },
    ...(node ? [{ id: "definition", word: "Definition" } as const] : []),
  ];
}

function InspectorHead({ nodeId, node, onClose, state }: InspectorProps & { readonly state: NodeState }): ReactNode {
  const { nameOf } = useShown();
  const { status, visits } = state;
  return (
    <div className={styles.top}>
      <IconSquare name={node ? iconOf(node) : "square-terminal"} status={status} />
      <div className={styles.names}>
        <h2 className={styles.name} data-tip={nameOf(nodeId)} data-tip-cut="">
          {nameOf(nodeId)}
        </h2>
        <p className={styles.type}>{[node && typeLine(node), visits > 1 && `visit ${countText(visits)}`].filter(Boolean).join(" · ")}</p>
      </div>
      <StatusChip status={status} />
      <Button kind="ghost" icon="x" label="Close" className={styles.close} onClick={onClose} />
    </div>
  );
}

function InspectorPanel(props: InspectorProps & Inspected & { readonly selected: InspectorTab }): ReactNode {
  const { nodeId, node, event, steps, error, selected } = props;
  const [last = null] = steps.steps;
  if (selected === "wait") return <WaitPanel nodeId={nodeId} />;
  if (selected === "input") return <InputPanel step={last} />;
  if (selected === "output") return <OutputPanel step={last} />;
  if (selected === "attempts") return <AttemptsPanel steps={steps} />;
  return (
    <div className={layout.pane}>
      {selected === "error" && error && <ErrorLines error={error} />}
      {selected === "error" && steps.steps.length > 1 && (
        <Section title="Attempts">
          <AttemptList steps={steps} />
        </Section>
      )}
      {selected === "event" && event && <JsonView value={event} label={`Event ${event.version}`} />}
      {selected === "definition" && node && <JsonView value={node} label="Definition" levels={3} />}
    </div>
  );
}

/** The tab that tells most: an event that is looked at, an error, what is waited for, what came out. */
function openedTab(tabs: readonly TabEntry<InspectorTab>[], hasEvent: boolean, hasError: boolean): InspectorTab {
  if (hasEvent) return "event";
  if (hasError) return "error";
  return tabs[0]!.id === "input" ? "output" : tabs[0]!.id;
}
