import { type ReactNode, useState } from "react";
import type { PlaceInfo, WaitInfo } from "stepfold/core";
import { useStudio } from "../../../app/studio-context.ts";
import type { WaitDraft } from "../../../form/form-drafts.ts";
import { SchemaForm } from "../../../form/schema-form.tsx";
import { endOfWait } from "../../../model/node-steps.ts";
import { isDue, isFor, rootNode } from "../../../model/places.ts";
import { addressedSentence, runningSentence } from "../../../model/sentence-parts.ts";
import { Button } from "../../../ui/controls/button.tsx";
import { Field } from "../../../ui/controls/field.tsx";
import { Select } from "../../../ui/controls/input.tsx";
import { Notice } from "../../../ui/feedback/notice.tsx";
import layout from "../../../ui/layout.module.css";
import { countText } from "../../../ui/text/number-text.ts";
import { clockText } from "../../../ui/text/time-text.ts";
import { useShown } from "../execution-context.ts";
import { HoldingSentence } from "../head/holding-sentence.tsx";
import { Sentence } from "../head/sentence.tsx";
import { JsonView } from "../tabs/json-view.tsx";
import { AnswerPanel, answerSchema } from "./answer-panel.tsx";
import styles from "./panel.module.css";
import { Section } from "./step-panels.tsx";

/** What a node does or waits for now, also inside the map or sub-workflow that it runs. */
export function WaitPanel({ nodeId }: { readonly nodeId: string }): ReactNode {
  const { explanation, waits, drafts, isPast } = useShown();
  const { me } = useStudio();
  const [chosen, setChosen] = useState<string | null>(null);
  const own = waits.filter(({ address }) => rootNode(address) === nodeId);
  const places = explanation?.places.filter(({ address }) => rootNode(address) === nodeId) ?? [];
  const lost = isPast ? [] : drafts.lost(new Set(waits.map(({ id }) => id))).filter(({ wait }) => rootNode(wait.address) === nodeId);
  const wait = own.find(({ id }) => id === chosen) ?? own.find((one) => isFor(one, me)) ?? own.find(({ answer }) => answer) ?? own[0];
  return (
    <>
      {lost.map((one) => (
        <LostAnswer key={one.wait.id} lost={one} />
      ))}
      {own.length > 1 && <WaitChoice waits={own} chosen={wait?.id ?? ""} onChoose={setChosen} />}
      {wait ? <AnswerPanel key={wait.id} wait={wait} /> : <PlaceList places={places} />}
    </>
  );
}

function WaitChoice(props: {
  readonly waits: readonly WaitInfo[];
  readonly chosen: string;
  readonly onChoose: (waitId: string) => void;
}): ReactNode {
  const { waits, chosen, onChoose } = props;
  const { model, isPast } = useShown();
  const count = !isPast && waits.length >= 100 ? (model.head?.waitCount ?? 0) : waits.length;
  return (
    <div className={styles.choice}>
      <Field
        label={count > waits.length ? `One of the first ${waits.length} of ${countText(count)} waits` : `One of ${waits.length} waits`}
      >
        {(control) => (
          <Select {...control} value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
            {waits.map(({ id, address, signal }) => (
              <option key={id} value={id}>
                {signal === undefined ? address : `${address}, signal ${signal}`}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  );
}

/** Where the node stands, if nobody can answer anything. */
function PlaceList({ places }: { readonly places: readonly PlaceInfo[] }): ReactNode {
  const { model, isPast, holding, explanation } = useShown();
  const isHeld = holding.kind === "held";
  const running = isPast ? [] : places.flatMap(({ pathId }) => model.progress.get(pathId)?.frame ?? []);
  return (
    <div className={layout.pane}>
      {places.map((place) => (
        <p key={place.pathId} className={styles.question}>
          <Sentence text={isHeld ? runningSentence(addressedSentence(place)) : addressedSentence(place)} />
        </p>
      ))}
      {places.length === 0 && <p className={layout.hint}>Nothing waits here.</p>}
      {!isPast && explanation && places.some((place) => isDue(place, explanation)) && (
        <p className={layout.hint}>
          <HoldingSentence holding={holding} />
        </p>
      )}
      {running.map(({ pathId, attempt, progress, at }) => (
        <Section key={pathId} title={`Attempt ${attempt}`} note={`told at ${clockText(at)}`}>
          {progress === undefined ? <p className={layout.hint}>It has begun.</p> : <JsonView value={progress} label="Progress" />}
        </Section>
      ))}
    </div>
  );
}

/** An answer that was begun, and that can no longer be given: its text is kept. */
function LostAnswer({ lost: { wait, draft } }: { readonly lost: WaitDraft }): ReactNode {
  const { model, drafts } = useShown();
  const [, setCount] = useState(0);
  const end = endOfWait(model.events, wait.id);
  const told = !end
    ? "The wait is over."
    : end.what === "answered"
      ? `${end.who ?? "Somebody"} has answered at ${clockText(end.at)}.`
      : `The wait ended at ${clockText(end.at)}: ${end.what === "timed out" ? "nobody answered in time" : "its time came"}.`;
  const discard = (): void => {
    drafts.forget(wait.id);
    setCount((count) => count + 1);
  };
  return (
    <>
      <Notice
        status="failed"
        actions={
          <Button isSmall onClick={discard}>
            Discard
          </Button>
        }
      >
        <b>Not applied.</b> {told} Your text is kept.
      </Notice>
      <div className={styles.lost}>
        <SchemaForm
          schema={answerSchema(wait)}
          draft={draft}
          submitLabel="Answer"
          busyLabel="Answering"
          refusal="This wait is over."
          onSubmit={() => Promise.resolve()}
        />
      </div>
    </>
  );
}
