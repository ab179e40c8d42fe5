import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ErrorInfo, type Event, isTerminal } from "stepfold/core";
import { useStudio } from "../../app/studio-context.ts";
import { isFor, isMovable, type LeadPlaces, leadPlaces, rootNode } from "../../model/places.ts";
import { cutBytes } from "../../model/value/json-tree.ts";
import { shownStatus, statusWord } from "../../ui/status/shown-status.ts";
import { StillTime } from "../../ui/text/now.tsx";
import { ShownContext } from "./execution-context.ts";
import styles from "./execution-page.module.css";
import { ExecutionTabs } from "./execution-tabs.tsx";
import { ActionDialog } from "./head/action-dialog.tsx";
import { Banners } from "./head/banners.tsx";
import { type ExecutionAction, ExecutionHead } from "./head/execution-head.tsx";
import { WhyBanner } from "./head/why-banner.tsx";
import { Inspector, type InspectorTab } from "./inspector/inspector.tsx";
import { usePageAddress } from "./use-page-address.ts";
import { usePageKeys } from "./use-page-keys.ts";
import type { Shown } from "./use-shown.ts";

/** The page of an execution of which something is known. */
export function ExecutionScreen({ shown, onRetry }: { readonly shown: Shown; readonly onRetry: () => void }): ReactNode {
  const { model, status, state, isPast, graph } = shown;
  const { announce } = useStudio();
  const address = usePageAddress();
  const where = useWhereItStands(shown);
  const { places, stands } = where;
  const selected = address.node === null ? (nodeOfLostAnswer(shown) ?? stands) : address.node === "" ? null : address.node;
  const [dialog, setDialog] = useState<ExecutionAction | null>(null);
  const [tab, setTab] = useInspectorTab(selected);
  const [focusForm, formRef] = useFocus();
  const answer = (): void => {
    if (!places.lead || isPast) return;
    address.setNode(rootNode(places.lead.address));
    setTab("wait");
    focusForm();
  };
  const close = (): void => {
    // the button that closes it goes with it: the focus goes to the card of the node, or stays in the page
    const main = formRef.current?.closest("main");
    (main?.querySelector<HTMLElement>(`[data-node="${CSS.escape(selected ?? "")}"]`) ?? main)?.focus({ preventScroll: true });
    address.setNode(null);
  };
  usePageKeys({ shown, address, selected, stands, answer });
  useEffect(() => announce(`${model.id}: ${statusWord(shownStatus(status))}`), [announce, model, status]);
  const hasEnded = isTerminal(model.head?.status ?? status);
  return (
    <ShownContext value={shown}>
      <StillTime at={isPast ? (state?.at ?? null) : model.isGone ? model.link.newsAt : null}>
        <div className={styles.page}>
          <Head shown={shown} where={where} onAct={setDialog} onAnswer={answer} />
          <Banners onVersion={address.setVersion} onRetry={onRetry} />
          <Why shown={shown} where={where} onSelect={address.setNode} />
          <ExecutionTabs shown={shown} address={address} selected={selected} stands={stands} hasEnded={hasEnded}>
            {selected !== null && (
              <div ref={formRef} className={styles.side}>
                <Inspector
                  nodeId={selected}
                  // steps of code are not in the definition
                  node={typeof graph === "object" && graph?.frame === null ? (graph.nodes.get(selected) ?? null) : null}
                  event={address.tab === "events" && isPast ? eventAt(shown) : null}
                  tab={tab}
                  onTab={setTab}
                  onClose={close}
                />
              </div>
            )}
          </ExecutionTabs>
          {dialog && <ActionDialog action={dialog} workflowId={model.id} onClose={() => setDialog(null)} />}
        </div>
      </StillTime>
    </ShownContext>
  );
}

/** Where the execution stands at the version that is shown. */
interface WhereItStands {
  readonly places: LeadPlaces;
  /** The failure. Null: none. */
  readonly error: Pick<ErrorInfo, "nodeId"> | null;
  /** The node where it stands, or has failed. */
  readonly stands: string | null;
}

function useWhereItStands({ model, explanation, isPast, state }: Shown): WhereItStands {
  const { me } = useStudio();
  const places = useMemo(() => leadPlaces(explanation ?? { places: [], more: 0 }, me), [explanation, me]);
  const error = isPast ? (state?.folded?.error ?? null) : (model.head?.error ?? null);
  return { places, error, stands: places.lead ? rootNode(places.lead.address) : (error?.nodeId ?? null) };
}

function Head(props: {
  readonly shown: Shown;
  readonly where: WhereItStands;
  readonly onAct: (action: ExecutionAction) => void;
  readonly onAnswer: () => void;
}): ReactNode {
  const { shown, where, onAct, onAnswer } = props;
  const { model, status, state, isPast } = shown;
  const { me } = useStudio();
  const { head, events } = model;
  const { lead } = where.places;
  const endedAt = (isPast ? state?.at : events.at(-1)?.at) ?? null;
  return (
    <ExecutionHead
      workflowId={model.id}
      status={shownStatus(status)}
      definition={head && { ...head.definition, ...(state && { hash: state.hash }) }}
      head={isPast ? null : head}
      holding={shown.holding}
      begin={events[0]?.at ?? head?.createdAt ?? null}
      end={isTerminal(status) ? endedAt : null}
      me={me}
      still={isPast ? "You look at the past." : model.isGone ? "The execution was deleted." : null}
      canAnswer={!isPast && lead !== null && (lead.waits.some((wait) => isFor(wait, me)) || isMovable(lead))}
      onAct={onAct}
      onAnswer={onAnswer}
    />
  );
}

function Why({
  shown,
  where,
  onSelect,
}: {
  readonly shown: Shown;
  readonly where: WhereItStands;
  readonly onSelect: (nodeId: string) => void;
}): ReactNode {
  const { model, status, state, explanation, isPast } = shown;
  const { head } = model;
  const { places } = where;
  if (!explanation) return null;
  return (
    <WhyBanner
      status={shownStatus(status)}
      explanation={explanation}
      places={places}
      output={isPast || cutBytes(head?.output) !== null ? state?.folded?.output : head?.output}
      holding={isPast ? null : shown.holding}
      onSelect={onSelect}
    />
  );
}

/** The node of an answer that was begun and can no longer be given: it stays in sight, so that nobody loses what they wrote. */
function nodeOfLostAnswer({ drafts, waits, isPast }: Shown): string | null {
  const [lost] = isPast ? [] : drafts.lost(new Set(waits.map(({ id }) => id)));
  return lost ? rootNode(lost.wait.address) : null;
}

function eventAt({ model, version }: Shown): Event | null {
  return model.events.findLast((event) => event.version === version) ?? null;
}

/** The tab of the inspector; another node begins with the tab that tells most. */
function useInspectorTab(selected: string | null): readonly [InspectorTab | null, (tab: InspectorTab | null) => void] {
  const [chosen, setChosen] = useState<{ readonly nodeId: string | null; readonly tab: InspectorTab | null }>({ nodeId: null, tab: null });
  const setTab = useCallback((tab: InspectorTab | null) => setChosen({ nodeId: selected, tab }), [selected]);
  return [chosen.nodeId === selected ? chosen.tab : null, setTab];
}

/** Moves the focus to the first field of the inspector, once it is there. */
function useFocus(): readonly [() => void, React.RefObject<HTMLDivElement | null>] {
  const ref = useRef<HTMLDivElement>(null);
  const focus = useCallback(() => {
    requestAnimationFrame(() =>
      requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>("form input, form textarea, form select")?.focus()),
    );
  }, []);
  return [focus, ref];
}
