/** Shown instead of data if the server requires sign-in. */
import { html, type TemplateResult } from 'lit-html';
import { written } from './parts.ts';

/** `enter` is called with the token. */
export function signIn(status: number, message: string, enter: (token: string) => void): TemplateResult {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    enter(written(event, 'token'));
  };
  return html`<section class="panel narrow">
    <h1>${status === 401 ? 'Sign in' : 'Access denied'}</h1>
    <p>${message}</p>
    <form class="sign-in" @submit=${submit}>
      <label for="token">Token</label>
      <input type="password" id="token" name="token" autocomplete="off" required />
      <button class="primary">Show the dashboard</button>
    </form>
    <p class="quiet">
      The token stays in this tab. Create one with
      <code>kubectl create token NAME --namespace NAMESPACE</code>.
    </p>
  </section>`;
}
