import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { type PatchOperation, priorityPatch } from '#shared/kube/admission/pod-patches.ts';
import { type Manifest, nameOf, namespaceOf } from '#cli/manifests/manifest.ts';
import { type Answer, listDocument } from '#cli/output/answer.ts';
import { formatTable, printable } from '#cli/output/table.ts';

/** The answer about one object, as users see it. */
export interface Row {
  /** `Kind/namespace/name`. */
  readonly object: string;
  /** As kubectl names it: `deployment.apps/web`. */
  readonly resource: string;
  readonly allowed: boolean;
  /** HTTP status of the answer. */
  readonly code: number;
  readonly message: string;
  readonly warnings: readonly string[];
  /** JSON patch (RFC 6902) that the object would be admitted with. */
  readonly patch: readonly PatchOperation[];
}

const ALLOWED = 200;

/** `namespace`: where an object goes that names none. */
export function rowOf(manifest: Manifest, decision: AdmissionDecision, namespace: string): Row {
  const isAllowed = decision.kind === 'allowed';
  const name = nameOf(manifest) || '<none>';
  return {
    object: `${manifest.kind}/${namespaceOf(manifest, namespace)}/${name}`,
    resource: `${resourceOf(manifest)}/${name}`,
    allowed: isAllowed,
    code: isAllowed ? ALLOWED : decision.code,
    message: decision.because.text,
    warnings: decision.warnings,
    patch: isAllowed && decision.change !== undefined ? priorityPatch(manifest.raw, decision.change) : [],
  };
}

function resourceOf({ apiVersion, kind }: Manifest): string {
  const [group = '', version] = apiVersion.split('/', 2);
  return `${kind.toLowerCase()}${version === undefined ? '' : `.${group}`}`;
}

/** What a review answers. */
export function reviewAnswer(rows: readonly Row[]): Answer {
  return {
    document: listDocument('ReviewResult', rows),
    table: (isWide) => printTable(rows, isWide),
    names: rows.map(({ resource }) => resource),
  };
}

/** With a table, warnings go to standard error, as with kubectl. */
export function warningLines(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ object, warnings }) => warnings.map((warning) => printable(`Warning: ${object}: ${warning}`)));
}

function printTable(rows: readonly Row[], isWide: boolean): string {
  const header = ['OBJECT', 'ALLOWED', 'CODE', ...(isWide ? ['PATCH'] : []), 'MESSAGE'];
  return formatTable(
    header,
    rows.map(({ object, allowed, code, message, patch }) => {
      const changes = isWide ? [patch.length === 0 ? '<none>' : JSON.stringify(patch)] : [];
      return [object, String(allowed), String(code), ...changes, message];
    }),
  );
}
