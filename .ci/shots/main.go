// Shots takes pictures of the pages of `swarm web` with the system's Chromium, in light and
// dark, on a desktop and on a phone:
//
//	go run ./.ci/shots ADDRESS DIR PATH...
//
// ADDRESS is what `swarm web` has printed; a picture of each PATH is put into DIR.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "shots: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: shots ADDRESS DIR PATH…")
	}
	base, _, _ := strings.Cut(args[0], "/?")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("force-color-profile", "srgb"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(args[0])); err != nil {
		return err
	}
	for _, path := range args[2:] {
		name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(path), "-")
		if name == "" {
			name = "list"
		}
		for _, scheme := range []string{"light", "dark"} {
			for size, view := range map[string][2]int64{"desktop": {1280, 800}, "phone": {390, 844}} {
				err := chromedp.Do(ctx,
					media(scheme),
					chromedp.EmulateViewport(view[0], view[1]),
					chromedp.Navigate(base+path),
					chromedp.WaitReady("main"),
					chromedp.Sleep(600*time.Millisecond), // the stream fills the page
				)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				if err := os.WriteFile(filepath.Join(args[1], name+"-"+scheme+"-"+size+".png"), png, 0o600); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// media makes the page light or dark.
func media(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}
