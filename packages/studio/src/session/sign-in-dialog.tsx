import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Button } from "../ui/controls/button.tsx";
import { Field } from "../ui/controls/field.tsx";
import { TextInput } from "../ui/controls/input.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import type { TokenQuestion } from "./session.ts";

/** Asks for a token, over whatever the page shows: nothing of it is lost. */
export function SignInDialog(props: {
  readonly question: TokenQuestion;
  /** Somebody was signed in: the page is behind the dialog. */
  readonly isAgain: boolean;
  readonly onToken: (token: string) => void;
}): ReactNode {
  const { question, isAgain, onToken } = props;
  const [token, setToken] = useState("");
  const [tried, setTried] = useState<string | null>(null);
  const formId = useId();
  const text = token.trim();
  const problem = problemOf(question, text, tried);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text === "") return;
    setTried(text);
    onToken(text);
  };
  return (
    <Dialog
      kind="narrow"
      title={isAgain ? "Sign in again" : "Sign in"}
      canClose={false}
      onClose={() => undefined}
      footNote="Kept only while a tab of this site is open: a new one gets it from the others."
      actions={
        <Button kind="primary" type="submit" form={formId} busyWord={question.isTrying ? "Signing in" : null}>
          Sign in
        </Button>
      }
    >
      <form id={formId} onSubmit={submit}>
        <Field
          label="Token"
          error={problem}
          hint="The one that the server was given for you, or the text after #t= in the link that stepfold dev prints."
        >
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="off"
              spellCheck={false}
              value={token}
              onChange={({ target }) => setToken(target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}

function problemOf({ reason, isTrying }: TokenQuestion, text: string, tried: string | null): string | null {
  if (isTrying || reason === "missing") return null;
  if (tried === null) return "The server no longer takes the token of this tab: it has ended, or the server has another one now.";
  return text === tried ? "The server does not take this token." : null;
}
