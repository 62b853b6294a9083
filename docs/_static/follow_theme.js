// The replay on the first page is light or dark as the page around it.
const frame = document.querySelector(".replay iframe");

function followTheme() {
  const replay = frame.contentDocument;
  const button = replay && replay.getElementById("theme");
  if (button && replay.documentElement.dataset.theme !== document.documentElement.dataset.theme) button.click();
}

frame.addEventListener("load", followTheme);
new MutationObserver(followTheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
