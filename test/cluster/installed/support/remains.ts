import { runKubectl } from './run-kubectl.ts';

/** The objects of Plimsoll that a cluster has, `KIND/NAME` each. */
export interface Remains {
  readonly definitions: readonly string[];
  readonly others: readonly string[];
}

/** Looks through every kind that the API server can list, for the label of Plimsoll and for its name. */
export async function remainsOf(kubeconfig: string): Promise<Remains> {
  const kinds = await runKubectl(kubeconfig, ['api-resources', '--verbs=list', '--output=name']);
  // Events end by themselves, and `componentstatuses` has been out of use for years.
  const listed = kinds.split('\n').filter((kind) => kind !== '' && !/^(?:events|componentstatuses)\b/.test(kind));
  const all = await runKubectl(kubeconfig, [
    'get',
    listed.join(','),
    '--all-namespaces',
    '--output=name',
    '--ignore-not-found',
  ]);
  const found = new Set(all.split('\n').filter((name) => name.includes('plimsoll')));
  // The API server makes an APIService for the group of the definitions, and removes it with them.
  const isDefinition = (name: string): boolean => /^(?:customresourcedefinition|apiservice)\./.test(name);
  return {
    definitions: [...found].filter(isDefinition).toSorted(),
    others: [...found].filter((name) => !isDefinition(name)).toSorted(),
  };
}
