import { type LabelSelector, prepareSelector, type Selector } from '#shared/domain/labels/label-selector.ts';
import { isFields, listAt, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';

/** Prepares a LabelSelector as objects hold it: absent matches nothing, empty everything. */
export function selectorOf(value: unknown): Selector {
  return prepareSelector(isFields(value) ? decodeSelector(value) : undefined);
}

/** Whether labels of an object meet a LabelSelector as objects hold it. */
export function matchesSelector(value: unknown, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selectorOf(value).matches(new Map(Object.entries(labels ?? {})));
}

function decodeSelector(selector: Fields): LabelSelector {
  const labels = isFields(selector['matchLabels']) ? selector['matchLabels'] : {};
  return {
    matchLabels: new Map(Object.entries(labels).map(([key, value]) => [key, String(value)])),
    matchExpressions: listAt(selector, 'matchExpressions').map((expression) => ({
      key: textAt(expression, 'key'),
      operator: textAt(expression, 'operator'),
      values: Array.isArray(expression['values']) ? expression['values'].map(String) : [],
    })),
  };
}
