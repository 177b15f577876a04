// Runs before the page is drawn. Modules cannot load from a file, so only a page that a server sent comes alive;
// look.css shows what belongs to either.
document.documentElement.classList.add(location.protocol === "file:" ? "hopper-static" : "hopper-live");
