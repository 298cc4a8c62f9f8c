/** The search over pods in the header. */
import { html, nothing, render } from 'lit-html';
import type { FoundPodView } from '#dashboard/pods/find-pods.ts';
import { podAddress } from './parts.ts';
import { isProblem } from './polled.ts';
import { ask } from './stream.ts';

const PAUSE_MS = 250;

/** Shows pods below the field as their name is typed; Enter opens the first, or the pod with exactly this name. */
export function searchPods(form: HTMLFormElement, field: HTMLInputElement, list: HTMLElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let found: readonly FoundPodView[] = [];
  const show = (shown: unknown): void => void render(shown, list);
  const close = (): void => {
    clearTimeout(timer);
    found = [];
    show(nothing);
  };
  const search = async (): Promise<void> => {
    const text = field.value.trim();
    if (text === '') {
      close();
      return;
    }
    const answer = await ask<{ readonly found: readonly FoundPodView[] }>(`/api/pods?text=${encodeURIComponent(text)}`);
    if (text !== field.value.trim()) return;
    found = isProblem(answer) ? [] : answer.found;
    show(isProblem(answer) ? html`<p role="status">${answer.message}</p>` : foundList(text, found));
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void search(), PAUSE_MS);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = field.value.trim();
    const pod = text.includes('/') && !found.some((each) => each.pod === text) ? text : (found[0]?.pod ?? '');
    if (pod === '') void search();
    else location.hash = podAddress(pod);
  });
  form.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    close();
    field.focus();
  });
  addEventListener('hashchange', () => {
    field.value = '';
    close();
  });
}

function foundList(text: string, found: readonly FoundPodView[]): unknown {
  const hint = text.includes('/') ? '' : '; namespace/name also finds pods that have no part in a decision';
  return html`<p role="status">
      ${found.length === 0 ? 'no pod found' : `${found.length} ${found.length === 1 ? 'pod' : 'pods'}`}${hint}
    </p>
    ${
      found.length === 0
        ? nothing
        : html`<ul>
            ${found.map(({ pod, where }) => html`<li><a href=${podAddress(pod)}>${pod}</a> <span class="quiet small">${where}</span></li>`)}
          </ul>`
    }`;
}
