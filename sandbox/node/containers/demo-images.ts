/** A setting that a container may give as an argument, `--memory=40Mi`. */
export type ImageOption = 'memory' | 'grow' | 'most' | 'cpu' | 'seconds' | 'exit-code' | 'ignore-sigterm';

export interface DemoImage {
  /** For `kubectl describe` and for the message that lists what there is. */
  readonly summary: string;
  readonly options: Readonly<Partial<Record<ImageOption, string>>>;
}

/** All that the sandbox's node can run, with what each option is when not given. It never runs a command. */
export const DEMO_IMAGES: Readonly<Record<string, DemoImage>> = {
  'demo/service': { summary: 'idle service', options: { memory: '0', cpu: '0', 'ignore-sigterm': 'false' } },
  'demo/hog': { summary: 'grows without end', options: { memory: '0', grow: '40Mi', most: '1Gi' } },
  'demo/burner': { summary: 'burns CPU, at most one core', options: { memory: '0', cpu: '500m' } },
  'demo/batch': {
    summary: 'works, then ends',
    options: { memory: '0', cpu: '100m', seconds: '5', 'exit-code': '0' },
  },
};

/** The image of that name, whatever its tag; `undefined` if the sandbox does not have it. */
export function findDemoImage(reference: string): { readonly name: string; readonly image: DemoImage } | undefined {
  const name = reference.replace(/^docker\.io\//, '').replace(/:[^:/]*$/, '');
  const image = Object.hasOwn(DEMO_IMAGES, name) ? DEMO_IMAGES[name] : undefined;
  return image === undefined ? undefined : { name, image };
}
