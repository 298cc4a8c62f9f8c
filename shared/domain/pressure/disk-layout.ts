/**
 * How the node's disks are cut: one filesystem for everything; images and writable layers on their own; or images
 * alone on their own, with the writable layers on the node's filesystem.
 */
export type DiskLayout = 'single' | 'imagesAndLayersApart' | 'imagesApart';
