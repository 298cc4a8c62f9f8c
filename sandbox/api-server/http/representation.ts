import { Buffer } from 'node:buffer';
import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import type { Page } from '#sandbox/api-server/operations/verbs/list.ts';
import { eventLine, type StoreChange, type ChangeType } from '#sandbox/api-server/storage/change.ts';
import type { Revision } from '#sandbox/api-server/storage/revision.ts';
import { tableOf, type TableOptions } from '#sandbox/api-server/table/table.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { notAcceptable } from '#sandbox/api-server/errors/errors.ts';

/** How objects are presented to one client. */
export interface Representation {
  readonly one: (revision: Revision) => Buffer;
  readonly list: (page: Page) => Buffer;
  readonly event: (change: StoreChange, type: ChangeType) => Buffer;
  readonly bookmark: (resourceVersion: number, isEndOfInitial: boolean) => Buffer;
}

/** The representation of a kind in a form; `now` gives the milliseconds that ages in tables count from. */
export function representation(form: Form, type: ResourceType, options: TableOptions): Representation {
  if (form === 'object') return objects(type);
  const show = form === 'table' ? tableShower(type, options) : metadataShower();
  return shown(show);
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/** Plain objects: the bytes were created once, when the object was stored. */
function objects(type: ResourceType): Representation {
  const { view } = type;
  return {
    one: (revision) => revision.jsonIn(view),
    list: (page) => {
      const head = `{"kind":"${type.kind}List","apiVersion":"${type.apiVersion}","metadata":${JSON.stringify(listMetadata(page))},"items":[`;
      const parts: Buffer[] = [Buffer.from(head)];
      for (const [at, revision] of page.revisions.entries()) {
        if (at > 0) parts.push(COMMA);
        parts.push(...listItem(revision.jsonIn(view), type));
      }
      parts.push(END);
      return Buffer.concat(parts);
    },
    event: (change, changeType) => change.line(changeType, view),
    bookmark: (resourceVersion, isEndOfInitial) =>
      eventLine('BOOKMARK', json(bookmarkObject(type.kind, type.apiVersion, resourceVersion, isEndOfInitial))),
  };
}

const OPEN = Buffer.from('{');

/** Items of a list of built-in kinds do not repeat their kind, which every stored object's JSON begins with. */
function listItem(item: Buffer, { openApi, kind, apiVersion }: ResourceType): readonly Buffer[] {
  if (openApi !== undefined) return [item];
  return [OPEN, item.subarray(`{"kind":"${kind}","apiVersion":"${apiVersion}",`.length)];
}

function listMetadata({ resourceVersion, continueToken, remaining }: Page): object {
  return {
    resourceVersion,
    ...(continueToken === '' ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
}

function bookmarkObject(
  kind: string,
  apiVersion: string,
  ...[resourceVersion, isEndOfInitial]: [number, boolean]
): object {
  const annotations = isEndOfInitial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  return {
    kind,
    apiVersion,
    metadata: { resourceVersion: String(resourceVersion), creationTimestamp: null, ...annotations },
  };
}

/** How a form shows one object and a list of them. */
interface Shower {
  readonly one: (objects: readonly KubeObject[], resourceVersion: string) => object;
  readonly list: (objects: readonly KubeObject[], page: Page) => object;
  readonly bookmark: (resourceVersion: number, isEndOfInitial: boolean) => object;
}

function shown(show: Shower): Representation {
  const objectOf = (revision: Revision): KubeObject => revision.object;
  return {
    one: (revision) => json(show.one([objectOf(revision)], revision.object.metadata.resourceVersion ?? '')),
    list: (page) => json(show.list(page.revisions.map(objectOf), page)),
    event: (change, changeType) => {
      const revision = change.revisionFor(changeType);
      return eventLine(
        changeType,
        json(show.one([objectOf(revision)], revision.object.metadata.resourceVersion ?? '')),
      );
    },
    bookmark: (resourceVersion, isEndOfInitial) =>
      eventLine('BOOKMARK', json(show.bookmark(resourceVersion, isEndOfInitial))),
  };
}

function tableShower(type: ResourceType, options: TableOptions): Shower {
  return {
    one: (list, resourceVersion) => tableOf(type, list, { resourceVersion }, options),
    list: (list, page) => tableOf(type, list, listMetadata(page), options),
    bookmark: (resourceVersion, isEndOfInitial) => ({
      ...tableOf(type, [], { resourceVersion: String(resourceVersion) }, options),
      rows: [
        {
          cells: [],
          object: bookmarkObject('PartialObjectMetadata', 'meta.k8s.io/v1', resourceVersion, isEndOfInitial),
        },
      ],
    }),
  };
}

function metadataShower(): Shower {
  const partial = ({ metadata }: KubeObject): object => ({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
  });
  return {
    one: ([object]) => (object === undefined ? {} : partial(object)),
    list: (list, page) => ({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: listMetadata(page),
      items: list.map(partial),
    }),
    bookmark: (resourceVersion, isEndOfInitial) =>
      bookmarkObject('PartialObjectMetadata', 'meta.k8s.io/v1', resourceVersion, isEndOfInitial),
  };
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** The forms in which objects can be shown. */
export type Form = 'object' | 'table' | 'metadata';

const ACCEPTED = ['application/json', 'application/yaml'];
const ANY = new Set([
  '',
  '*/*',
  'application/*',
  'application/json',
  'application/yaml',
  'text/html',
  'application/apidiscovery',
]);

/** Chooses the first supported form of an `Accept` header. Throws 406. */
export function negotiate(accept: string): Form {
  if (accept === '') return 'object';
  for (const choice of accept.split(',')) {
    const form = formOf(choice);
    if (form !== undefined) return form;
  }
  throw notAcceptable(ACCEPTED);
}

function formOf(choice: string): Form | undefined {
  const [mediaType = '', ...parameters] = choice.split(';').map((part) => part.trim());
  if (!ANY.has(mediaType)) return undefined;
  const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
  if (as === undefined) return 'object';
  if (!parameters.includes('v=v1')) return undefined;
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
}
